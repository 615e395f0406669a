"""`python -m cli`: the command where no script is installed, and where a process starts another."""

from cli.main import main

main()
