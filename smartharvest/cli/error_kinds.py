"""Which kind of failure a message is: the identifiers at the end of the lines of failures.

A raise site writes a plain sentence; the sentence is recognised by words that only its kind has.
So the hundreds of sites carry no numbers, and a line that crossed a process or another error class
keeps its identifier. A test finds every raise site and refuses one whose sentence no kind has.

An identifier is for ever: a new kind gets the next number of its letter, and one that nothing
raises any more keeps its number, with no words. docs/reference/messages.md has the same
identifiers, each with the cause and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

_KINDS = """
SH-C01 is not valid TOML | A number is too large | Nested too deeply
SH-C02 : unknown key | problem
SH-C03 has no unit | unknown unit | is not a duration | is longer than a year |
    must be longer than zero | neither a duration ago
SH-C04 is not a size | must be above zero and at most 1 PiB | is no size
SH-C05 is unknown; | is not understood; | balancer: | is no option
SH-C06 is no target | lacks
SH-C07 is no list of | the list is empty | is not online here
SH-C08 ; write | is no name | is no path | is no model | is no window | is no table |
    is no number | is not true or false | is no value of this setting | is no guarantee |
    is no file | is not a number | is no rate | is no share | is no erlang's | is no weight |
    is no valid Slurm name | runs backwards | must be true or false | is no directory |
    is not a rate | : write | ; use | is neither | is no spark:// | is no HOST:PORT
SH-C09 is not within | must be | is negative | ; use 0 | ; use 1 | is not a whole number |
    can never be promised | is less than one | is too short to read | 0 or more | are too many |
    use more than 0 | is too small | is below min | is not in 1..65535 | max is at least min |
    at most | is too short for | have none; leave it out | , and there are
SH-C10 give one of | give either | give both | go together | not both
SH-C11 no target given | no group given | no primary given | nothing to set: give |
    explain: name the audit log | report: name the audit log | --policy: needs --trace |
    give --config, or --primary and --elastic | needs heartbeats = FILE |
    every [[elastic]] has a name | it is empty | name what one node has | is missing |
    are missing, also as
SH-C12 Missing option | Missing argument | Missing parameter | No such option | No such command |
    Invalid value for | unexpected extra argument | requires an argument | does not take a value |
    requires
SH-C13 two groups are called | several groups share as | are the same group |
    groups do not lie in each other | have no parent group of their own in common | there twice |
    twice | count heartbeats in
SH-C14 cannot be read: | is not UTF-8 text | is larger than
SH-C15 cannot be written: | cannot be written into | cannot be created: |
    beats cannot be counted there | is not writable; | its owner gets there
SH-C16 this agent was started without a way to read it again | no arguments are taken here |
    unknown argument | a request may have | the line is no JSON | a request needs a command
SH-C17 needs a terminal
SH-C18 is missing; install the package with pip first | units do not see what is in |
    a package has installed the unit | is there already, and different |
    is not as it was installed | install it, or do that step by hand
SH-C19 others may write it | others may put files there | belongs to | is a link |
    has other names | is no regular file
SH-C20 is no name of a group | there is no group
SH-C21 the configuration in force stays
SH-C22 depends on where the agent starts
SH-C23 other hosts could reach | is not loopback
SH-C24 is no token
SH-C25 is not installed; pip install | pip install | is not installed; apt-get install |
    not found; install | there is no Spark | is missing; pip install
SH-C26 Address already in use | Cannot assign requested address | audit_log: |
    its directory does not exist | metrics | --listen:
SH-T01 does not exist; make the group | not in the cgroup tree | no such directory |
    neither cgroup.controllers (v2) nor cpuset/
SH-T02 has no cpuset.cpus; write +cpuset into | is no cpuset: | memory cannot be bounded:
SH-T03 is empty; write | has no CPUs or memory nodes
SH-T04 matches nothing that could be a primary
SH-T05 the elastic target is one that exists
SH-T06 names no unit that has processes
SH-T07 there is no user
SH-T08 ; name separate targets
SH-T09 has started this agent | has started
SH-T10 is not ours to confine
SH-T11 the root group cannot be confined
SH-T12 several groups are managed | no running agent and no | is no elastic group |
    the agent has no elastic group | the agent lends to several groups
SH-T13 no such command, or this user may not execute it | : no such command
SH-T14 a command can be started in a group, not in a process | a process cannot be evicted |
    needs an elastic group | needs groups, and
SH-T15 is nothing that Linux writes there
SH-T16 has no freezer
SH-T17 and cpugroups would empty them
SH-T18 ; use --mechanism | cannot place exclusively | cannot freeze | needs a real host |
    is not under cpu.idle | acts on events and on how long tasks wait |
    which no trace shows
SH-T19 mechanism: strict:
SH-T20 has tasks and is none of the elastic groups |
    itself, and only what is in one of its elastic groups
SH-T21 is gone | no such process | has ended | the group is gone or lacks this file | No such file
SH-T22 already manages
SH-V01 has -overcommit cpu-pm=on
SH-V02 libvirt does not answer | is no QMP monitor to talk to |
    a monitor serves one client at a time
SH-V03 runs already; choose another --name
SH-V04 tells no threads of vCPUs | its vCPUs are no threads of one process here
SH-V05 cannot be moved to | was not moved to
SH-P01 no core can be lent:
SH-P02 others are confined to
SH-P03 would split a core of several hardware threads | leaves the primary none of |
    that can be lent ( | no primary may run on | is more than the | is not possible with
SH-P04 would leave it no CPU
SH-P05 the primaries have no online CPU
SH-R01 ; run as root | reading is not allowed | writing is not allowed | is closed to this user |
    Permission denied | creating the group failed
SH-R02 no cgroup hierarchy with cpusets is mounted | the cpuset controller is not among
SH-R03 this machine lacks
SH-R04 process events:
SH-R05 taskstats: | waits:
SH-S01 no sensor is left | no longer works | has been detached by somebody | sensor
SH-S02 the primaries have more threads than can be watched through /proc
SH-J01 was refused:
SH-J02 another process writes this group | another process pins these threads |
    was written but another set is in force; does somebody else manage this group?
SH-J03 of the polling loop failed | the replayed loop halted
SH-J04 the guardian did not start | the guardian cannot be started | before it watched
SH-J05 the journal cannot be kept | no journal is obeyed there |
    nothing that the journal says is done
SH-J06 another agent is starting and does not get on
SH-J07 the journal cannot be written
SH-J08 its disk does not answer
SH-J09 ; run smartharvest restore | not everything could be put back
SH-J10 the journal is damaged | restore with the release that wrote it |
    give its agent's --cgroup-root
SH-J11 is the journal of another process
SH-J12 another process holds this lock | is closed; no more changes are allowed
SH-A01 is starting, ending or being replaced | : no answer within | does not answer |
    the answer is too long | ; try again
SH-A02 restart:
SH-A03 agents run; choose one with --pid
SH-A04 its agent has ended
SH-A05 No agent is running
SH-A06 was killed;
SH-A07 is no agent | is no process | ; smartharvest status lists the agents
SH-A08 the lines above say what to fix
SH-D01 is no trace; write | has no column | has no rows | two columns have the same name |
    cells, and the header names | the header must name it | is no packing trace |
    is no spot trace | is no list of openb's pods | no columns 1_minute | is no record of workers |
    is no JSON | must be a list of objects | is no result of fleet simulate | is no audit log |
    is no table:
SH-D02 every row needs it | is no number: | is no finite number | it must be |
    every step needs a number | a value is missing or no number | is no label | id is missing |
    name is empty | do not ascend | is before the row above | is not there to be evicted |
    has no durations | priority is | the id is there twice | two nodes have this id |
    end is before start
SH-D03 has no allocations | has no request for machine | has no nodes | lasts no time |
    has no reports | has no worker at its beginning | is empty; use | no node has that |
    has too few decisions
SH-D04 more than
SH-D05 exists already; choose another name or --overwrite | exists; give another name
SH-D06 it ends after
SH-D07 promises are learned from | the trace is too short to learn from | the trace ends after |
    is longer than what the trace knows | is shorter than a step of the trace |
    no horizon is over by then | there is never room for one VM | too short to be repeated |
    minutes;
SH-D08 the model has learned | is damaged | is no model of | --model:
SH-D09 the audit log has no decision in that time
SH-D10 the queue only grows | too many for so many functions | hold no instance of |
    are both needed | functions need one or more | no Harvest VM is left | no invocation in |
    nothing useful is left | harvested cores are free, so a budget |
    the first must be below the second | fit no node | allow only
SH-E01 the pool has no machine | there is no node | is no worker | is no slot | does not show |
    not found, or without a scale | live nodes at
SH-E02 kubernetes: | htcondor: | slurm: | squeue: | condor_status: | spark: | yarn: | ray: | qemu: |
    ray at | adapter | : exit code | is no URL of | it printed | no end within |
    is no list of times
SH-E03 still in use, | above the capacity | may not be evicted now
SH-E04 the answer is no capacity document
SH-E05 cannot be used:
SH-E06 name a /capacity URL on each line | it has no
SH-X01 unexpected
SH-X02 this copy is not built
SH-X03 it says why above
SH-X04 has not ended within
SH-X05 cannot be started:
SH-X06 ended early with status | answered | a worker process ended early
"""
"""Identifier, then words with a bar between; the letter is the section of the page."""


@cache
def kinds() -> dict[str, tuple[str, ...]]:
    """Identifier -> words."""
    return {kind: tuple(words.split(" | ")) if words else () for kind, words in _entries()}


def identifier(message: str, exit_code: int) -> str:
    """Of the kind whose words in ``message`` are the longest.

    ``SH-`` and the exit code, if it has the words of none: they are the system's or a library's.
    """
    found = (
        (len(part), kind) for kind, words in kinds().items() for part in words if part in message
    )
    return max(found, default=(0, f"SH-{exit_code:02}"))[1]


def _entries() -> Iterator[tuple[str, str]]:
    for entry in _KINDS.strip().split("\nSH-"):
        kind, _, words = entry.removeprefix("SH-").partition(" ")
        yield f"SH-{kind}", " ".join(words.split())
