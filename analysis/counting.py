"""Numbers in words."""


def counted(number: int, noun: str) -> str:
    """`1 call`, `2,000 calls`. For nouns that take an s and nothing else, as all of ours do."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
