import recursive


def test_the_verifier_is_exact(assert_exact):
    assert_exact(recursive.verify, kind="verifier", candidates=[1, 2])
