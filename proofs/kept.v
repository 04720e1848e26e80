(** Candidates that were pruned by their own scores are no draws from the draft any more: three tokens,
    two draws of which the likelier is kept. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection die optimal frontier.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Believed.
Variables (R : realFieldType) (V Omega : finType) (P : Omega -> R) (pick : Omega -> V -> R).

(** The pick is tested against the law q, from which it is believed to be drawn. If q is the target
    and gives all that is picked a chance, the law of the pick is emitted, whatever that is. *)
Theorem believed_law q :
    law q -> (forall x, q x = 0 -> pick_law P pick x = 0) ->
  verifier_law P (picked_step pick (standard_test q q) (standard_residual q q)) =1 pick_law P pick.
Proof.
move=> q_law seen y; rewrite picked_step_law // step_law_mass.
have acc x : accepted_mass (pick_law P pick) (standard_test q q) x = pick_law P pick x.
  rewrite /accepted_mass /standard_test /test_of_mass /minimum (min_eq_l (lexx _)).
  case: (eqVneq (q x) 0) => [q0 | q_neq0]; first by rewrite seen ?mul0r.
  by rewrite mulfV ?mulr1.
by rewrite acc big1 ?addr0 // => x _; rewrite acc subrr mul0r.
Qed.

End Believed.

Section Three_tokens.
Variable R : realFieldType.

(** p = q = (1/2, 1/3, 1/6), in multiples of t = 1/6. *)
Let t : R := 6%:R^-1.
Definition tokens_law : 'I_3 -> R := fun x => if x == face0 then 3%:R * t else if x == face1 then 2%:R * t else t.
Definition two_draws (o : 'I_3 * 'I_3) : R := tokens_law o.1 * tokens_law o.2.

(** Of two draws the likelier is kept. *)
Definition likelier (o : 'I_3 * 'I_3) : 'I_3 := if (o.1 <= o.2)%N then o.1 else o.2.
Definition kept (o : 'I_3 * 'I_3) : 'I_3 -> R := candidate R (likelier o).

Let t6 : 6%:R * t = 1. Proof. by rewrite mulfV // pnatr_eq0. Qed.
Let t_gt0 : 0 < t. Proof. by rewrite invr_gt0 ltr0n. Qed.
Let tt_ge0 : 0 <= t * t. Proof. by rewrite mulr_ge0 // ltW. Qed.

Lemma tokens_gt0 x : 0 < tokens_law x.
Proof. by rewrite /tokens_law; case: ifP => _; [| case: ifP => _]; rewrite ?mulr_gt0 ?ltr0n. Qed.

Lemma tokens_law_law : law tokens_law.
Proof.
split=> [x|]; first exact/ltW/tokens_gt0.
by rewrite /mass sum3 /tokens_law /=; from (1 : R) t6.
Qed.

Lemma two_draws_law : law two_draws.
Proof.
split=> [o|]; first by rewrite mulr_ge0 // ltW ?tokens_gt0.
have [_ one] := tokens_law_law; rewrite /mass -(pair_big xpredT xpredT (fun x y => tokens_law x * tokens_law y)) /=.
rewrite (eq_bigr (fun x => tokens_law x)) => [|x _]; first exact: one.
by rewrite -mulr_sumr [\sum_y _]one mulr1.
Qed.

Lemma kept_picks o : law (kept o). Proof. exact: candidate_law. Qed.

(** The law of what is kept is (27, 8, 1)/36. *)
Lemma kept_law x :
  pick_law two_draws kept x = (if x == face0 then 27%:R else if x == face1 then 8%:R else 1) * (t * t).
Proof.
rewrite /pick_law.
rewrite -(pair_big xpredT xpredT (fun y z => two_draws (y, z) * kept (y, z) x)) /=.
rewrite sum3 !sum3 /two_draws /kept /candidate /likelier /tokens_law /=.
by move: x; apply: all3; rewrite /=; arith.
Qed.

Let ninths : 9%:R^-1 = 4%:R * (t * t).
Proof.
have v9 : 9%:R * 9%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
have e : 9%:R^-1 * ((6%:R * t) * (6%:R * t)) = 4%:R * (t * t) * (9%:R * 9%:R^-1) by arith.
by rewrite t6 v9 !mulr1 in e.
Qed.
Let fourths : 4%:R^-1 = 9%:R * (t * t).
Proof.
have v4 : 4%:R * 4%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
have e : 4%:R^-1 * ((6%:R * t) * (6%:R * t)) = 9%:R * (t * t) * (4%:R * 4%:R^-1) by arith.
by rewrite t6 v4 !mulr1 in e.
Qed.
Let thirty_sixths : 36%:R^-1 = t * t. Proof. by rewrite /t -invfM -natrM. Qed.

Let believed := picked_step kept (standard_test tokens_law tokens_law) (standard_residual tokens_law tokens_law).

(** Tested against q it emits (3/4, 2/9, 1/36), *)
Theorem pruned_law :
  [/\ verifier_law two_draws believed face0 = 3%:R / 4%:R,
      verifier_law two_draws believed face1 = 2%:R / 9%:R &
      verifier_law two_draws believed face2 = 36%:R^-1].
Proof.
have emits := believed_law (P := two_draws) (pick := kept) tokens_law_law.
have seen x : tokens_law x = 0 -> pick_law two_draws kept x = 0.
  by move=> zero; have := tokens_gt0 x; rewrite zero ltxx.
by rewrite fourths ninths thirty_sixths; split; rewrite (emits seen) kept_law /=; arith.
Qed.

(** at a distance of 1/4 from the target, though the draft is the target: *)
Theorem pruned_variation : total_variation (verifier_law two_draws believed) tokens_law = 4%:R^-1.
Proof.
have [e0 e1 e2] := pruned_law; rewrite /total_variation sum3 e0 e1 e2 fourths ninths thirty_sixths.
have d0 : 3%:R * (9%:R * (t * t)) - tokens_law face0 = 9%:R * (t * t) by rewrite /tokens_law /=; from (3%:R * t) t6.
have d1 : 2%:R * (4%:R * (t * t)) - tokens_law face1 = - (4%:R * (t * t)).
  by rewrite /tokens_law /=; from (2%:R * t) t6.
have d2 : t * t - tokens_law face2 = - (5%:R * (t * t)) by rewrite /tokens_law /=; from t t6.
rewrite d0 d1 d2 !normrN !ger0_norm ?mulr_ge0 ?ler0n ?(ltW t_gt0) //.
have h2 : 2%:R * 2%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
from (9%:R * (t * t)) h2.
Qed.

(** Tested against the law of what is kept it is exact, and accepts 3/4; *)
Theorem kept_exact : verifier_law two_draws (canonical two_draws kept tokens_law) =1 tokens_law.
Proof. exact: canonical_exact two_draws_law kept_picks _ tokens_law_law. Qed.

Let shows (o : 'I_3 * 'I_3) : {set 'I_3} := [set likelier o].

Lemma kept_bound emit :
    verifier emit -> verifier_law two_draws emit =1 tokens_law ->
  verifier_acceptance two_draws shows emit <= 3%:R / 4%:R.
Proof.
move=> emit_law exact_p.
apply: le_trans (acceptance_upper_bound shows [set face0] two_draws_law emit_law exact_p) _.
rewrite big_set1 /all_inside big_mkcond.
rewrite -(pair_big xpredT xpredT (fun y z => if shows (y, z) \subset [set face0] then two_draws (y, z) else 0)) /=.
rewrite sum3 !sum3 /shows !sub1set !inE /likelier /two_draws /tokens_law /= fourths.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; from (- (9%:R * t + 1)) t6.
Qed.

(** no exact verifier that is shown only what is kept accepts more. *)
Theorem kept_acceptance :
  verifier_acceptance two_draws shows (canonical two_draws kept tokens_law) = 3%:R / 4%:R.
Proof.
apply: eq_of_le.
  by apply: kept_bound; [exact: canonical_verifier two_draws_law kept_picks _ tokens_law_law | exact: kept_exact].
have only o x : x \notin shows o -> kept o x = 0 by rewrite inE /kept /candidate => /negbTE ->.
apply: le_trans (canonical_acceptance two_draws_law kept_picks tokens_law_law only).
rewrite sum3 !kept_law /tokens_law /= fourths min_eq_l; last first.
  by apply: (le_from (mulr_ge0 (ler0n R 9) tt_ge0)); from (3%:R * t) t6.
rewrite min_eq_r; last by apply: (le_from (mulr_ge0 (ler0n R 4) tt_ge0)); from (- (2%:R * t)) t6.
rewrite min_eq_r; last by apply: (le_from (mulr_ge0 (ler0n R 5) tt_ge0)); from (- t) t6.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; from (3%:R * t) t6.
Qed.

End Three_tokens.
