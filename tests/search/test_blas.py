"""One BLAS thread while fits run."""

from threadpoolctl import ThreadpoolController

from seminaive.search.blas import one_blas_thread


def threads():
    return [pool["num_threads"] for pool in ThreadpoolController().select(user_api="blas").info()]


def test_threads_come_back_when_the_outermost_fit_ends():
    before = threads()
    assert before
    with one_blas_thread():
        with one_blas_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert threads() == before
