(** T13 and T14 on one fair coin, with two levels and two candidates. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output tree_bound.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Lemma sum_tuples (R : realFieldType) (V : finType) k (F : seq V -> R) :
  \sum_(t : k.+1.-tuple V) F t = \sum_x \sum_(t : k.-tuple V) F (x :: t).
Proof.
rewrite pair_big /= (reindex (fun u : V * k.-tuple V => [tuple of u.1 :: u.2])) //=.
exists (fun t => (thead t, [tuple of behead t])) => [[x t] | t] _ /=; last exact/esym/tuple_eta.
by congr (_, _); apply: val_inj.
Qed.

Section Coin.
Variable R : realFieldType.

Let h : R := 2%:R^-1.
Lemma two_halves : h + h = 1.
Proof.
have e : 2%:R * h = 1 by rewrite mulfV // pnatr_eq0.
by from (1 : R) e.
Qed.
Lemma half_ge0 : 0 <= h. Proof. by rewrite invr_ge0 ler0n. Qed.
Lemma sum_faces (F : bool -> R) : \sum_y F y = F true + F false.
Proof. by rewrite big_bool. Qed.

Definition coin : seq bool -> bool -> R := fun _ _ => h.
Lemma coin_law c : law (coin c).
Proof. by split=> [x|]; [exact: half_ge0 | rewrite /mass sum_faces two_halves]. Qed.

(** Both faces are candidates at the root; below heads there is one candidate, drawn by a toss. *)
Definition toss : bool -> R := fun=> h.
Definition coin_tree (o : bool) : seq (seq bool) := [:: [::]; [:: true]; [:: false]; [:: true; o]].

Lemma toss_law : law toss. Proof. exact: (coin_law [::]). Qed.

Lemma coin_trees : trees coin_tree.
Proof.
move=> o; split=> // s w; rewrite !inE.
by case/or4P=> /eqP ->; case: s => [|[] [|x [|y s]]] //=; rewrite !inE ?eqseq_cons ?andbT ?eqxx ?orbT.
Qed.

(** Heads and tails are accepted with probability 1/2 each; after heads its child always is. *)
Definition coin_emit (o : bool) (s : seq bool) (y : bool) : R :=
  if (s == [:: true; o]) || (s == [:: false]) then h * h else 0.

Lemma coin_verifier : tree_verifier coin_tree coin_emit.
Proof.
move=> o; split=> [s y|].
  by rewrite /coin_emit; case: ifP => // _; rewrite mulr_ge0 ?half_ge0.
rewrite !big_cons big_nil !sum_faces /coin_emit /= !eqxx /=.
by case: o => /=; have e := two_halves; from (h + h + 1) e.
Qed.

Lemma coin_mean f : mean toss coin_tree coin_emit f
  = h * h * h * (f [:: true; true] true + f [:: true; true] false + f [:: true; false] true
                 + f [:: true; false] false + 2%:R * (f [:: false] true + f [:: false] false)).
Proof.
by rewrite /mean sum_faces !big_cons !big_nil !sum_faces /coin_emit /toss /=; arith.
Qed.

(** Its output is that of a fair coin. *)
Theorem coin_tree_exact : tree_exact toss coin_tree coin_emit coin.
Proof.
apply/(tree_exact_next toss_law coin_verifier coin) => s y; rewrite /through /ends !coin_mean /coin.
have e := two_halves.
case: s => [|[] [|[] [|z s]]]; case: y; rewrite /=;
  by [arith | from (- (4%:R * (h * h * h))) e | from (- (2%:R * (h * h * h))) e | from (- (h * h * h)) e].
Qed.

(** Always accepting heads and its child is not exact. *)
Definition heads_emit (o : bool) (s : seq bool) (y : bool) : R := if s == [:: true; o] then h else 0.

Lemma heads_verifier : tree_verifier coin_tree heads_emit.
Proof.
move=> o; split=> [s y|]; first by rewrite /heads_emit; case: ifP => // _; exact: half_ge0.
by rewrite !big_cons big_nil !sum_faces /heads_emit; case: o => /=; have e := two_halves; from (1 : R) e.
Qed.

Theorem always_heads_not_exact : ~ tree_exact toss coin_tree heads_emit coin.
Proof.
move/(tree_exact_next toss_law heads_verifier coin)/(_ [::] false).
rewrite /through /ends /mean !sum_faces !big_cons !big_nil !sum_faces /heads_emit /toss /coin /=.
move=> f; have e := two_halves.
have z : h * (h * (h + h) + h * (h + h)) = 0 by from (- 1 : R) f.
by rewrite e !mulr1 e mulr1 in z; have := oner_neq0 R; rewrite -e z addr0 eqxx.
Qed.

(** Of both candidates and the child 3/2 tokens are accepted, *)
Theorem coin_tree_length : accepted_length toss coin_tree coin_emit = 3%:R / 2%:R.
Proof.
have e := two_halves; rewrite /accepted_length coin_mean /= -/h.
by from (3%:R * h * (h + h + 1)) e.
Qed.

(** which no exact verifier of these trees exceeds. *)
Theorem coin_tree_best emit :
    tree_verifier coin_tree emit -> tree_exact toss coin_tree emit coin ->
  accepted_length toss coin_tree emit <= 3%:R / 2%:R.
Proof.
move=> emit_law exact_P.
apply: (exact_le_linear_program (n := 2) toss_law coin_trees emit_law coin_law _ exact_P).
  by move=> o w; rewrite !inE => /or4P[] /eqP ->.
move=> g [g_root g_le _ chains]; rewrite /objective !big_ord_recr big_ord0 /= add0r.
pose a s := g s * target coin s.
have single x : \sum_(t : 0.-tuple bool) a (x :: t) = a [:: x].
  by rewrite (bigD1 [tuple]) //= big1 ?addr0 // => t; rewrite tuple0.
rewrite (sum_tuples 0 a) (sum_tuples 1 a) !sum_faces.
rewrite (sum_tuples 0 (fun s => a (true :: s))) (sum_tuples 0 (fun s => a (false :: s))) !sum_faces.
have pair x y : \sum_(t : 0.-tuple bool) a [:: x, y & t] = a [:: x; y].
  by rewrite (bigD1 [tuple]) //= big1 ?addr0 // => t; rewrite tuple0.
rewrite !single !pair.
have e := two_halves; have P1 x : target coin [:: x] = h by rewrite /target /= mulr1.
have P2 x y : target coin [:: x; y] = h * h by rewrite /target /= mulr1.
have g1 x : g [:: x] <= 1 by rewrite -g_root; exact: (g_le [::]).
have g2 x y : g [:: x; y] <= 1 by apply: le_trans (g1 x); exact: (g_le [:: x]).
have a1 x : a [:: x] <= h by have := le_scale half_ge0 (g1 x); rewrite /a P1 mulr1 mulrC.
have a2 y : a [:: true; y] <= h * h.
  by have := le_scale (mulr_ge0 half_ge0 half_ge0) (g2 true y); rewrite /a P2 mulr1 mulrC.
have none y : a [:: false; y] <= 0.
  have anti : antichain [:: [:: false; y]] by split=> // m m'; rewrite !inE => /eqP -> /eqP ->.
  by have := chains _ anti; rewrite big_seq1 /contains big1.
have all := le_plus (le_plus (a1 true) (a1 false))
              (le_plus (le_plus (a2 true) (a2 false)) (le_plus (none true) (none false))).
apply: le_trans all _; rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite -/h.
by from h e.
Qed.

End Coin.
