(** T7: residuals that depend on the rejected candidate gain nothing with two candidates. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section No_free_lunch.
Variables (R : realFieldType) (V : finType).
Implicit Types (p q a d : V -> R).

(** The acceptance rate of a step followed by rules for the later candidates. *)
Lemma acceptance_rate_try q a (next : V -> rule R V) :
  acceptance_rate (Try q a next) =
  mass (accepted_mass q a) + \sum_x (q x - accepted_mass q a x) * acceptance_rate (next x).
Proof.
rewrite /acceptance_rate /= (mass_same (step_law_mass _ _ _)) mass_plus; congr (_ + _).
by rewrite /mass exchange_big; apply: eq_bigr => x _; rewrite -mulr_sumr.
Qed.

Lemma acceptance_rate_draw d : acceptance_rate (Draw d : rule R V) = 0.
Proof. by rewrite /acceptance_rate /mass /= big1. Qed.

(** |f| min(f / |f|, q) = min(f, |f| q). *)
Lemma scaled_minimum d (f q : V -> R) y :
  nonneg f -> mass f * minimum (normalise d f) q y = Num.min (f y) (mass f * q y).
Proof.
move=> f_ge0; have scaled := mass_normalise d y f_ge0; have m_ge0 := nonneg_mass f_ge0.
rewrite -[X in Num.min X _]scaled /minimum; case: (leP (normalise d f y) (q y)) => h.
- by rewrite min_eq_l // le_scale.
- by rewrite min_eq_r // le_scale // ltW.
Qed.

(** Recursive rejection with two candidates accepts this much. *)
Lemma recursive_rejection_two q p :
    law p -> law q ->
  acceptance_rate (recursive_rejection q p 2) =
  mass (minimum p q) + \sum_y Num.min (floor p q y) ((1 - mass (minimum p q)) * q y).
Proof.
move=> p_law q_law; have [_ acc] := standard_test_accepts p_law q_law.
have r_law := standard_residual_law q p_law; have [_ acc2] := standard_test_accepts r_law q_law.
rewrite [recursive_rejection q p 2]/= acceptance_rate_try (mass_same acc).
congr (_ + _); rewrite -mulr_suml acceptance_rate_try (mass_same acc2) acceptance_rate_draw -mulr_suml mulr0 addr0.
rewrite (eq_bigr (fun x => q x - minimum p q x)); last by move=> x _; rewrite acc.
rewrite sumrB; case: (q_law) => q_ge0 q_mass; rewrite [\sum_x q x]q_mass -/(mass _).
rewrite -(mass_floor q p_law) mulr_sumr; apply: eq_bigr => y _.
exact: (scaled_minimum p q y (floor_ge0 p q)).
Qed.

(** T7. Let the first of two candidates from q be accepted with probability min(1, p/q). However
    an exact rule goes on after rejecting x, it accepts no more than recursive rejection. *)
Theorem no_free_lunch p q (next : V -> rule R V) :
    law p -> law q -> (forall x, proper (next x)) -> (forall x, candidates_from q 1 (next x)) ->
    emitted (Try q (standard_test p q) next) =1 p ->
  acceptance_rate (Try q (standard_test p q) next)
  <= acceptance_rate (recursive_rejection q p 2).
Proof.
move=> p_law q_law next_proper next_one exact_p.
have [t acc] := standard_test_accepts p_law q_law; have [q_ge0 q_mass] := q_law.
have rej_ge0 x : 0 <= q x - minimum p q x by rewrite subr_ge0; apply: min_right.
rewrite recursive_rejection_two // acceptance_rate_try (mass_same acc).
apply: le_plus => //; rewrite (eq_bigr (fun x => \sum_y (q x - minimum p q x) * accepted (next x) y));
  last by move=> x _; rewrite acc mulr_sumr.
rewrite exchange_big; apply: ler_sum => y _; apply: min_greatest.
- have : \sum_x (q x - minimum p q x) * emitted (next x) y = floor p q y.
    have := exact_p y; rewrite /= step_law_mass acc -(minimum_floor p q y) => /addrI <-.
    by apply: eq_bigr => x _; rewrite acc.
  move=> <-; apply: ler_sum => x _; apply: le_scale => //.
  exact: accepted_le_emitted.
- have -> : 1 - mass (minimum p q) = \sum_x (q x - minimum p q x).
    by rewrite -q_mass -mass_minus.
  rewrite mulr_suml; apply: ler_sum => x _; apply: le_scale => //.
  have := accepted_le_proposals q_law (next_proper x) (next_one x) y.
  by rewrite mul1r.
Qed.

End No_free_lunch.
