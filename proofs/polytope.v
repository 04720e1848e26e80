(** T12: what picks can do. Their laws are the base polytope of Q; which of them attain the bound; and
    where in it the picks by weights lie. T10: for independent candidates the best set is a prefix. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection die optimal frontier attained.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Polytope.
Variables (R : realFieldType) (V Omega : finType).
Variables (P : Omega -> R) (candidates : Omega -> {set V}).
Implicit Types (p s : V -> R) (H : {set V}) (pick : Omega -> V -> R).
Hypothesis P_law : law P.

Let Q H := all_inside P candidates H.

(** The base polytope of Q: laws that give every set at least what cannot avoid it. *)
Definition base_polytope s := law s /\ forall H, Q H <= \sum_(x in H) s x.

(** A pick: for every outcome a law on its candidates. *)
Definition candidate_pick pick :=
  (forall o, law (pick o)) /\ forall o x, x \notin candidates o -> pick o x = 0.

Lemma pick_inside pick H :
    candidate_pick pick ->
  \sum_(x in H) pick_law P pick x
  = Q H + \sum_(o | ~~ (candidates o \subset H)) P o * \sum_(x in H) pick o x.
Proof.
move=> [picks only]; rewrite /pick_law exchange_big /= (eq_bigr (fun o => P o * \sum_(x in H) pick o x)).
  rewrite (bigID (fun o => candidates o \subset H)) /=; congr (_ + _); apply: eq_bigr => o inside.
  have [_ one] := picks o; rewrite -[RHS]mulr1; congr (_ * _); rewrite -one /mass [RHS](bigID (mem H)) /=.
  rewrite [X in _ = _ + X]big1 ?addr0 // => x out; apply: only.
  by apply: contra out; exact: (subsetP inside).
by move=> o _; rewrite mulr_sumr.
Qed.

(** T12. If there is always a candidate, the laws of picks are the base polytope. *)
Theorem pick_laws s : (forall o, candidates o != set0) ->
    (exists pick, candidate_pick pick /\ pick_law P pick =1 s) <-> base_polytope s.
Proof.
move=> some; have [P_ge0 P_mass] := P_law; split=> [[pick [good same]] | [s_law above]].
  have [picks only] := good; have [s_ge0 s_mass] := pick_law_law P_law picks; split.
    by split=> [x|]; [rewrite -same | rewrite -(mass_same same)].
  move=> H; rewrite -(eq_bigr _ (fun x _ => same x)) (pick_inside H good).
  have rest : 0 <= \sum_(o | ~~ (candidates o \subset H)) P o * \sum_(x in H) pick o x.
    by apply: sumr_ge0 => o _; rewrite mulr_ge0 //; apply: sumr_ge0 => x _; have [] := picks o.
  by linear rest.
have [s_ge0 s_mass] := s_law.
have [|f [f_ge0 f_support f_P f_s f_all]] := transport (D := 0) (N := candidates) P_ge0 s_ge0.
  by move=> H; rewrite addr0; exact: above.
have all_sent : \sum_o mass (f o) = 1.
  apply: eq_of_le; last by rewrite -P_mass; linear f_all.
  by rewrite -P_mass; apply: ler_sum => o _.
have f_full : (fun o => mass (f o)) =1 P by apply: below_same_mass; [exact: f_P | rewrite P_mass].
have f_even : (fun y => \sum_o f o y) =1 s.
  by apply: below_same_mass; [exact: f_s | rewrite s_mass -all_sent /mass exchange_big].
have f_good : acceptances P candidates s f by [].
have [d [d_law d_only]] := some_pick R some; exists (filled P f d); split.
  by split; [exact (filled_law P_law f_good d_law) | exact (filled_only f_good d_only)].
move=> x; rewrite -f_even; apply: eq_bigr => o _.
by rewrite (filled_scaled d o x f_good) f_full subrr mul0r addr0.
Qed.

(** T12. Such a law attains the bound at H if and only if no candidate outside H is ever passed over
    for one in H, and it is no less than p in H and no more than p outside. *)
Theorem attains_iff p s H :
    law p -> base_polytope s ->
  mass (minimum p s) = cut P candidates p H <->
  [/\ \sum_(x in H) s x = Q H, forall x, x \in H -> p x <= s x & forall x, x \notin H -> s x <= p x].
Proof.
move=> [p_ge0 _] [[s_ge0 s_mass] above]; have h := above H; rewrite -subr_ge0 in h.
pose spare x := if x \in H then p x - minimum p s x else s x - minimum p s x.
have spare_ge0 : nonneg spare.
  by move=> x; rewrite /spare; case: ifP => _; rewrite subr_ge0; [exact: min_left | exact: min_right].
have gap : cut P candidates p H - mass (minimum p s) = mass spare + (\sum_(x in H) s x - Q H).
  rewrite /cut -s_mass /mass (bigID (mem H) xpredT s) (bigID (mem H) xpredT (minimum p s)) /=.
  rewrite (bigID (mem H) xpredT spare) /=.
  have -> : \sum_(x in H) spare x = \sum_(x in H) p x - \sum_(x in H) minimum p s x.
    by rewrite -sumrB; apply: eq_bigr => x xH; rewrite /spare xH.
  have -> : \sum_(x | x \notin H) spare x = \sum_(x | x \notin H) s x - \sum_(x | x \notin H) minimum p s x.
    by rewrite -sumrB; apply: eq_bigr => x /negbTE xH; rewrite /spare xH.
  by rewrite /Q; arith.
split=> [equal | [tight p_le s_le]]; last first.
  have none : mass spare = 0.
    apply: big1 => x _; rewrite /spare /minimum; case: (boolP (x \in H)) => xH.
      by rewrite min_eq_l ?subrr // p_le.
    by rewrite min_eq_r ?subrr // s_le.
  by rewrite none tight in gap; from (- 1 : R) gap.
rewrite equal subrr in gap.
have none : mass spare = 0.
  by apply: eq_of_le; [rewrite -subr_ge0 sub0r; apply: (le_from h); from (1 : R) gap | exact: nonneg_mass].
split=> [|x xH|x xH].
- by rewrite none in gap; from (- 1 : R) gap.
- have := mass_zero spare_ge0 none x; rewrite /spare xH => e.
  have -> : p x = minimum p s x by from (1 : R) e.
  exact: min_right.
- have := mass_zero spare_ge0 none x; rewrite /spare (negbTE xH) => e.
  have -> : s x = minimum p s x by from (1 : R) e.
  exact: min_left.
Qed.

(** Picks by weights. With two classes, everything outside H above H, they lie on the face that is
    tight at H; *)
Section Weights.
Variables (weight : V -> R).
Hypotheses (some : forall o, candidates o != set0) (weight_gt0 : forall x, 0 < weight x).

Let weights class := weight_pick candidates class weight.

Lemma weights_pick class : candidate_pick (weights class).
Proof.
split=> [o | o x out]; first exact: weight_pick_law.
by rewrite /weights /weight_pick /highest_weight /highest (negbTE out) mul0r.
Qed.

Theorem two_classes_tight H :
  \sum_(x in H) pick_law P (weights (fun x => (x \notin H) : nat)) x = Q H.
Proof.
rewrite pick_inside; last exact: weights_pick.
rewrite big1 ?addr0 // => o /subsetPn[y y_in y_out]; rewrite big1 ?mulr0 // => x xH.
rewrite /weights /weight_pick /highest_weight; case: ifP => [/andP[_ /forallP top] | _]; last by rewrite mul0r.
by have := top y; rewrite y_in y_out xH.
Qed.

(** with one class they lie inside: every set that can be avoided and can be hit at once gets more. *)
Theorem one_class_inside H o x y :
    0 < P o -> x \in candidates o -> x \in H -> y \in candidates o -> y \notin H ->
  Q H < \sum_(z in H) pick_law P (weights (fun=> 0%N)) z.
Proof.
move=> o_gt0 x_in xH y_in y_out; have [P_ge0 _] := P_law.
have pick_ge0 o' z : 0 <= weights (fun=> 0%N) o' z by have [picks _] := weights_pick (fun=> 0%N); have [] := picks o'.
rewrite pick_inside; last exact: weights_pick.
have out : ~~ (candidates o \subset H) by apply/subsetPn; exists y.
rewrite (bigD1 o) //= (bigD1 x) //=.
have x_gt0 : 0 < weights (fun=> 0%N) o x.
  rewrite /weights /weight_pick divr_gt0 //.
    have top : [forall z in candidates o, (0 <= 0)%N] by apply/forallP => z; rewrite implybT.
    by rewrite /highest_weight /highest x_in top; exact: weight_gt0.
  rewrite lt_neqAle eq_sym highest_weight_mass //=; apply: nonneg_mass; exact: highest_weight_ge0.
have others : 0 <= \sum_(z in H | z != x) weights (fun=> 0%N) o z by apply: sumr_ge0.
have rest : 0 <= \sum_(i | ~~ (candidates i \subset H) && (i != o)) P i * \sum_(z in H) weights (fun=> 0%N) i z.
  by apply: sumr_ge0 => i _; rewrite mulr_ge0 //; apply: sumr_ge0.
have here : 0 < P o * (weights (fun=> 0%N) o x + \sum_(z in H | z != x) weights (fun=> 0%N) o z).
  by rewrite mulr_gt0 //; apply: lt_le_trans x_gt0 _; linear others.
set A := P o * _ in here *; set B := \sum_(i | _) _ in rest *.
by apply: (lt_le_trans (y := Q H + A)); [linear here | linear rest].
Qed.

End Weights.
End Polytope.

Section Powers.
Variable R : realFieldType.

Lemma power_le n (a b : R) : 0 <= a -> a <= b -> a ^+ n <= b ^+ n.
Proof.
move=> a_ge0 ab; elim: n => [|n IH]; first by rewrite !expr0.
have bn_ge0 : 0 <= b ^+ n by apply: exprn_ge0; exact: le_trans a_ge0 ab.
rewrite !exprS; apply: le_trans (le_scale a_ge0 IH) _; have h := le_scale bn_ge0 ab; linear h.
Qed.

(** The slope of a power lies between those at the ends. *)
Lemma power_slope n (a b : R) : 0 <= a -> a <= b ->
  n.+1%:R * a ^+ n * (b - a) <= b ^+ n.+1 - a ^+ n.+1 <= n.+1%:R * b ^+ n * (b - a).
Proof.
move=> a_ge0 ab; have b_ge0 := le_trans a_ge0 ab; have d_ge0 : 0 <= b - a by rewrite subr_ge0.
elim: n => [|n /andP[low high]]; first by rewrite !expr1 !expr0 !mul1r lexx.
have split_at : b ^+ n.+2 - a ^+ n.+2 = b * (b ^+ n.+1 - a ^+ n.+1) + a ^+ n.+1 * (b - a).
  by rewrite !exprS; arith.
have an_ge0 : 0 <= a ^+ n.+1 by apply: exprn_ge0.
have an_le : a ^+ n.+1 <= b ^+ n.+1 by exact: power_le.
rewrite split_at -[n.+2]addn1 natrD !exprS; set k := n.+1%:R in low high *; apply/andP; split.
  have h1 := le_scale a_ge0 low.
  have up : 0 <= b ^+ n.+1 - a ^+ n.+1 by rewrite subr_ge0.
  have h2 := le_scale up ab; have h := le_plus h1 h2.
  by rewrite !exprS in h *; linear h.
have h1 := le_scale b_ge0 high; have h2 := le_scale d_ge0 an_le; have h := le_plus h1 h2.
by rewrite !exprS in h *; linear h.
Qed.

End Powers.

Section Prefix.
Variables (R : realFieldType) (V : finType) (p q : V -> R) (K : nat).
Hypotheses (p_law : law p) (q_law : law q).

(** T10. For K >= 1 independent candidates a set that attains the bound is a prefix of the tokens
    sorted by p/q: whatever is in it has a ratio no larger than what is not. *)
Theorem best_set_is_prefix (H : {set V}) :
    (forall H' : {set V}, \sum_(x in H) p x + 1 - (\sum_(x in H) q x) ^+ K.+1
      <= \sum_(x in H') p x + 1 - (\sum_(x in H') q x) ^+ K.+1) ->
  forall x y, x \in H -> y \notin H -> p x * q y <= p y * q x.
Proof.
have [p_ge0 _] := p_law; have [q_ge0 _] := q_law.
move=> best x y xH yH; set a := \sum_(x in H) q x in best.
have a_ge0 : 0 <= a by apply: sumr_ge0.
have less (F : V -> R) : \sum_(z in H) F z = F x + \sum_(z in H :\ x) F z by rewrite (big_setD1 x).
have qx_le : 0 <= a - q x.
  by rewrite /a less; have h : 0 <= \sum_(z in H :\ x) q z by [apply: sumr_ge0]; linear h.
have a_x : a - q x <= a by have h := q_ge0 x; linear h.
have a_y : a <= a + q y by have h := q_ge0 y; linear h.
have /andP[_ out] := power_slope K qx_le a_x.
have /andP[in_ _] := power_slope K a_ge0 a_y.
have without := best (H :\ x); have with_y := best (y |: H).
rewrite !big_setU1 //= -/a [q y + a]addrC in with_y.
have rest : \sum_(z in H :\ x) q z = a - q x by rewrite /a less; arith.
rewrite rest (less p) in without; set slope := K.+1%:R * a ^+ K in out in_.
have px : p x <= slope * q x.
  apply: le_trans (_ : a ^+ K.+1 - (a - q x) ^+ K.+1 <= _); first by linear without.
  by apply: le_trans out _; rewrite le_eqVlt; apply/orP; left; apply/eqP; arith.
have py : slope * q y <= p y.
  apply: le_trans (_ : (a + q y) ^+ K.+1 - a ^+ K.+1 <= _); last by linear with_y.
  by apply: le_trans in_; rewrite le_eqVlt; apply/orP; left; apply/eqP; arith.
have h := le_plus (le_scale (q_ge0 y) px) (le_scale (q_ge0 x) py); linear h.
Qed.

End Prefix.

Section Die.
Variable R : realFieldType.

(** On the die with one candidate from a draft that knows two faces, the pick lies on the tight face of
    these two, above the target there and below it on the third. *)
Theorem die_on_the_tight_face :
  [/\ base_polytope (two_faces R) one_candidate (two_faces R),
      \sum_(x in known_faces) two_faces R x = all_inside (two_faces R) one_candidate known_faces,
      forall x, x \in known_faces -> die R x <= two_faces R x &
      forall x, x \notin known_faces -> two_faces R x <= die R x].
Proof.
have q_law := two_faces_law R; have some o : one_candidate o != set0 by apply/set0Pn; exists o; rewrite inE.
have base : base_polytope (two_faces R) one_candidate (two_faces R).
  apply/(pick_laws q_law (two_faces R) some); exists (candidate R); split; last exact: candidate_pick_law.
  by split=> [o | o x out]; [exact: candidate_law | exact: candidate_picks].
have attains : mass (minimum (die R) (two_faces R)) = cut (two_faces R) one_candidate (die R) known_faces.
  rewrite /cut known_faces_bound -(die_pick_attains R); apply: mass_same => x.
  by rewrite /minimum candidate_pick_law.
by have [] := (attains_iff known_faces (die_law R) base).1 attains.
Qed.

End Die.
