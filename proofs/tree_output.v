(** T13: what exact means for a verifier of whole candidate trees. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Target.
Variables (R : realFieldType) (V : finType).

(** The target model: for every context the law of the next token. *)
Variable model : seq V -> V -> R.
Hypothesis model_law : forall c, law (model c).

(** P(s), the probability of the string s under the target model. *)
Definition target (s : seq V) : R := joint model [::] s.

(** The probability that the output, read from the context c on, begins with s, when w has been
    emitted and the target model writes on from there. *)
Fixpoint begins (c w s : seq V) {struct s} : R :=
  match s, w with
  | [::], _ => 1
  | _ :: _, [::] => joint model c s
  | y :: s', x :: w' => (x == y)%:R * begins (rcons c x) w' s'
  end.

Lemma begins_nothing c s : begins c [::] s = joint model c s.
Proof. by case: s. Qed.

Lemma joint_rcons c s y : joint model c (rcons s y) = joint model c s * model (c ++ s) y.
Proof.
elim: s c => [|x s IH] c /=; first by rewrite cats0; arith.
by rewrite IH cat_rcons mulrA.
Qed.

Lemma target_rcons s y : target (rcons s y) = target s * model s y.
Proof. by rewrite /target joint_rcons. Qed.

Lemma joint_ge0 c s : 0 <= joint model c s.
Proof. by elim: s c => [|x s IH] c /=; rewrite ?ler01 // mulr_ge0 //; case: (model_law c). Qed.

Lemma begins_ge0 c w s : 0 <= begins c w s.
Proof.
elim: s w c => [|y s IH] [|x w] c; rewrite ?ler01 //; first exact: joint_ge0.
by rewrite /= mulr_ge0 // ler0n.
Qed.

(** If the model draws the next token, the output begins as if the model wrote on from w. *)
Lemma begins_draw c w s :
  \sum_x model (c ++ w) x * begins c (rcons w x) s = begins c w s.
Proof.
elim: s w c => [|y s IH] w c.
  have [_ m] := model_law (c ++ w); rewrite /= -[RHS]m; apply: eq_bigr => x _.
  by case: (rcons w x) => *; rewrite mulr1.
case: w => [|z w] /=; last first.
  rewrite -IH mulr_sumr cat_rcons; apply: eq_bigr => x _; arith.
rewrite cats0 (eq_bigr (fun x => (model c x * joint model (rcons c x) s) * (x == y)%:R)).
  exact: (mass_point y (fun x => model c x * joint model (rcons c x) s)).
by move=> x _; rewrite begins_nothing; arith.
Qed.

(** The output begins with sy because the path w goes through sy, or because w and x are s and y,
    or because w ended earlier and the model wrote on. *)
Lemma begins_rcons c w x s y :
  begins c (rcons w x) (rcons s y)
  = (prefix (rcons s y) w)%:R + (begins c (rcons w x) s - (prefix s w)%:R) * model (c ++ s) y
    + ((w == s) && (x == y))%:R.
Proof.
elim: s w c => [|z s IH] [|u w] c /=.
- by rewrite mulr1 subrr mul0r; arith.
- by rewrite mulr1 subrr mul0r eq_sym; case: w => /= *; rewrite andbT; arith.
- by rewrite !begins_nothing joint_rcons cat_rcons subr0; case: eqP => [->|_] /=; arith.
- by rewrite IH eqseq_cons [z == u]eq_sym cat_rcons; case: eqP => [->|_] /=; arith.
Qed.

Lemma begins_ge_prefix c w x s : (prefix s w)%:R <= begins c (rcons w x) s.
Proof.
elim: s w c => [|z s IH] [|u w] c //=; first by rewrite mulr_ge0 ?ler0n // begins_ge0.
rewrite eq_sym; case: (u == z) => /=; last by rewrite mul0r.
by rewrite mul1r.
Qed.

End Target.

Section Verifier.
Variables (R : realFieldType) (V Omega : finType).

(** Outcomes with a law P, and the candidate tree that each of them shows: a list of strings. (An
    outcome may tell more than the tree, for instance which candidates coincide.) *)
Variables (P : Omega -> R) (tree : Omega -> seq (seq V)).

(** A tree lists every string once, and with a string everything that it begins with. *)
Definition trees :=
  forall o, [/\ uniq (tree o), [::] \in tree o & forall s w, w \in tree o -> prefix s w -> s \in tree o].

(** A verifier sees the whole outcome; it accepts a path that ends at a node of the tree and draws
    one extra token: a law over nodes and tokens, for every outcome. *)
Definition tree_verifier (emit : Omega -> seq V -> V -> R) :=
  forall o, (forall s y, 0 <= emit o s y) /\ \sum_(s <- tree o) \sum_y emit o s y = 1.

Variable emit : Omega -> seq V -> V -> R.

(** The mean of anything that depends on where the path ends and on the extra token. *)
Definition mean (f : seq V -> V -> R) : R :=
  \sum_o P o * \sum_(s <- tree o) \sum_y emit o s y * f s y.

(** a(s), the probability that the accepted path goes through s, *)
Definition through (s : seq V) : R := mean (fun w _ => (prefix s w)%:R).

(** e(sy), that it ends at s with the extra token y, *)
Definition ends (s : seq V) (y : V) : R := mean (fun w x => ((w == s) && (x == y))%:R).

(** and that the output begins with s, the target model writing on after the extra token. *)
Definition tree_output model (s : seq V) : R := mean (fun w x => begins model [::] (rcons w x) s).

(** The output has the target's joint law. *)
Definition tree_exact model := forall s, tree_output model s = target model s.

Lemma mean_same f g : (forall w x, f w x = g w x) -> mean f = mean g.
Proof.
move=> fg; apply: eq_bigr => o _; congr (_ * _); apply: eq_bigr => w _.
by apply: eq_bigr => x _; rewrite fg.
Qed.

Lemma mean_on_trees f g : (forall o w x, w \in tree o -> f w x = g w x) -> mean f = mean g.
Proof.
move=> fg; apply: eq_bigr => o _; congr (_ * _); rewrite big_seq [RHS]big_seq.
by apply: eq_bigr => w w_in; apply: eq_bigr => x _; rewrite (fg o).
Qed.

Lemma mean_sum I (r : seq I) (F : I -> seq V -> V -> R) :
  mean (fun w x => \sum_(i <- r) F i w x) = \sum_(i <- r) mean (F i).
Proof.
rewrite /mean [RHS]exchange_big /=; apply: eq_bigr => o _; rewrite -mulr_sumr; congr (_ * _).
rewrite [RHS]exchange_big /=; apply: eq_bigr => w _; rewrite [RHS]exchange_big /=.
by apply: eq_bigr => x _; rewrite mulr_sumr.
Qed.

Lemma mean_plus f g : mean (fun w x => f w x + g w x) = mean f + mean g.
Proof.
rewrite /mean -big_split /=; apply: eq_bigr => o _; rewrite -mulrDr -big_split /=; congr (_ * _).
apply: eq_bigr => w _; rewrite -big_split /=; apply: eq_bigr => x _; arith.
Qed.

Lemma mean_scale f k : mean (fun w x => f w x * k) = mean f * k.
Proof.
rewrite /mean mulr_suml; apply: eq_bigr => o _; rewrite -mulrA mulr_suml; congr (_ * _).
apply: eq_bigr => w _; rewrite mulr_suml; apply: eq_bigr => x _; arith.
Qed.

Lemma mean_minus f g : mean (fun w x => f w x - g w x) = mean f - mean g.
Proof.
have -> : mean f - mean g = mean f + mean g * (- 1) by arith.
rewrite -mean_scale -mean_plus; apply: mean_same => w x; arith.
Qed.

Hypotheses (P_law : law P) (emit_law : tree_verifier emit).

Lemma mean_one : mean (fun _ _ => 1) = 1.
Proof.
case: P_law => _ {2}<-; apply: eq_bigr => o _; have [_ e] := emit_law o.
rewrite -[RHS]mulr1; congr (_ * _).
rewrite -[RHS]e; apply: eq_bigr => w _.
by apply: eq_bigr => x _; rewrite mulr1.
Qed.

Lemma mean_le f g : (forall w x, f w x <= g w x) -> mean f <= mean g.
Proof.
move=> fg; apply: ler_sum => o _; have [P_ge0 _] := P_law; have [e_ge0 _] := emit_law o.
apply: le_scale => //; apply: ler_sum => w _; apply: ler_sum => x _; exact: le_scale.
Qed.

Lemma mean_ge0 f : (forall w x, 0 <= f w x) -> 0 <= mean f.
Proof.
move=> f_ge0; have -> : 0 = mean (fun _ _ => 0).
  by rewrite (mean_same (g := fun _ _ => 1 * 0)) ?mean_scale ?mulr0 // => *; rewrite mulr0.
exact: mean_le.
Qed.

Lemma through_root : through [::] = 1.
Proof. by rewrite -mean_one; apply: mean_same => w x; rewrite prefix0s. Qed.

Lemma through_ge0 s : 0 <= through s.
Proof. by apply: mean_ge0 => *; rewrite ler0n. Qed.

Lemma ends_ge0 s y : 0 <= ends s y.
Proof. by apply: mean_ge0 => *; rewrite ler0n. Qed.

Variable model : seq V -> V -> R.
Hypothesis model_law : forall c, law (model c).

Lemma output_root : tree_output model [::] = 1.
Proof. by rewrite -mean_one; apply: mean_same => w x; case: (rcons w x). Qed.

Lemma output_rcons s y :
  tree_output model (rcons s y)
  = through (rcons s y) + (tree_output model s - through s) * model s y + ends s y.
Proof. by rewrite -mean_minus -mean_scale -!mean_plus; apply: mean_same => w x; rewrite begins_rcons. Qed.

(** The same without division: exact is a verifier whose paths, wherever they pass, go on by the
    model's law, counting the extra token. *)
Lemma tree_exact_next :
  tree_exact model <-> forall s y, through (rcons s y) + ends s y = through s * model s y.
Proof.
split=> [exact_P s y | next].
  by have := output_rcons s y; rewrite !exact_P target_rcons => e; from (- 1 : R) e.
elim/last_ind => [|s y IH]; first by rewrite output_root.
by rewrite output_rcons target_rcons IH; from (1 : R) (next s y).
Qed.

(** T13. The output has the target's joint law if and only if there is g with a(s) = g(s) P(s),
    g = 1 at the root, g(sy) <= g(s) and e(sy) = P(sy) (g(s) - g(sy)). *)
Theorem tree_exact_iff :
  tree_exact model <->
  exists g : seq V -> R, g [::] = 1 /\ forall s, through s = g s * target model s /\
    forall y, g (rcons s y) <= g s /\ ends s y = target model (rcons s y) * (g s - g (rcons s y)).
Proof.
split=> [exact_P | [g [g_root g_form]]]; last first.
  apply/tree_exact_next => s y; have [a_s /(_ y)[_ ->]] := g_form s.
  by have [-> _] := g_form (rcons s y); rewrite a_s !target_rcons; arith.
pose g s := through s / target model s.
have a_g s : through s = g s * target model s.
  rewrite /g; case: (eqVneq (target model s) 0) => [P0|P_neq0]; last by rewrite mulfVK.
  rewrite P0 mulr0; apply: eq_of_le; last exact: through_ge0.
  by rewrite -P0 -exact_P; apply: mean_le => w x; exact: begins_ge_prefix.
have g_ge0 s : 0 <= g s by rewrite divr_ge0 ?through_ge0 ?joint_ge0.
have form s y : ends s y = target model (rcons s y) * (g s - g (rcons s y)).
  have := tree_exact_next.1 exact_P s y; rewrite !a_g target_rcons => e; from (1 : R) e.
exists g; split; first by rewrite /g through_root /target /= invr1 mulr1.
move=> s; split=> // y; split=> //; case: (eqVneq (target model (rcons s y)) 0) => [P0|P_neq0].
  have -> : g (rcons s y) = 0 by rewrite /g P0 invr0 mulr0.
  exact: g_ge0.
have P_gt0 : 0 < target model (rcons s y) by rewrite lt_neqAle eq_sym P_neq0 joint_ge0.
by rewrite -subr_ge0 -(pmulr_rge0 _ P_gt0) -form; exact: ends_ge0.
Qed.

End Verifier.
