import pytest

from bench.sensors import Agreement


def test_agreement_counts_what_was_missed_and_what_was_invented() -> None:
    agreement = Agreement()
    for truth, said, times in (
        (True, True, 3),
        (True, False, 1),
        (False, False, 4),
        (False, True, 2),
    ):
        for _ in range(times):
            agreement.note(truth, said, truth)
    shares = agreement.shares()
    assert shares["agrees"] == pytest.approx(0.7)
    assert shares["error"] == pytest.approx(0.3)
    assert shares["truly_busy"] == pytest.approx(0.4)
    assert shares["said_busy"] == pytest.approx(0.5)
    assert shares["missed_busy_share"] == pytest.approx(1 / 4)
    assert shares["invented_busy_share"] == pytest.approx(2 / 6)


def test_a_constant_guess_is_right_as_often_as_the_commoner_state() -> None:
    agreement = Agreement()
    for truth in (True, False, False, False):
        agreement.note(truth, truth, truth)
    assert agreement.shares()["constant_guess_agrees"] == pytest.approx(0.75)


def test_a_poll_during_which_the_truth_changed_judges_nobody() -> None:
    agreement = Agreement()
    agreement.note(True, False, False)
    agreement.note(False, False, False)
    shares = agreement.shares()
    assert shares["agrees"] == 1.0
    assert shares["edges_share"] == 0.5


def test_no_polls_make_no_figures_out_of_nothing() -> None:
    assert Agreement().shares()["error"] == 0.0
