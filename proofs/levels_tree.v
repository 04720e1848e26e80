(** The level rule is a verifier of whole trees: it ends at nodes of the tree only, so that T14 bounds
    it as well. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output tree_bound.
From resispec Require Import levels levels_chain levels_through.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Tree.
Variables (R : realFieldType) (V J Omega : finType) (model : seq V -> V -> R).
Hypothesis model_law : forall c, law (model c).
Implicit Types (r : reveal R V J Omega) (l : level R V J Omega) (st : state R V J).
Implicit Types (T M : seq (seq V)) (full : pred J).

(** Which slots are full on the next level: those with a child of an instance that is there; and the
    strings of the tree that has been revealed. *)
Definition next_full l full o : pred J :=
  fun i => if child l o i is Some (j, _) then full j else false.
Definition next_tree l st full T o : seq (seq V) :=
  T ++ [seq next_string l st o i | i <- enum J & next_full l full o i].

(** Nothing is outside the tree T that has been revealed, and T is one. *)
Definition on_tree T full st :=
  [/\ forall s w, w \in T -> prefix s w -> s \in T, forall j, full j -> string st j \in T,
      forall j, share st j != 0 -> full j & forall k, k \in stops st -> k.2 != 0 -> k.1.1 \in T].

(** The probability that the tree contains a string of M, once all of it is revealed. *)
Fixpoint reveals M r st full T : R :=
  match r with
  | Deepest => (has (fun m => m \in T) M)%:R
  | Reveal l next => \sum_o chance l o
      * reveals M (next o) (advance model l st o) (next_full l full o) (next_tree l st full T o)
  end.

Lemma prefix_of_rcons (s w : seq V) y : prefix s (rcons w y) = (s == rcons w y) || prefix s w.
Proof.
elim: s w => [|x s IH] [|z w] //=; first by rewrite orbF eqseq_cons; case: (s).
by rewrite IH eqseq_cons; case: (x == z).
Qed.

(** In every state that can be reached all masses are on the tree. *)
Lemma advance_on_tree l st T full o :
  proper_level l -> on_tree T full st ->
  on_tree (next_tree l st full T o) (next_full l full o) (advance model l st o).
Proof.
move=> l_proper [closed slots shares ends]; split.
- move=> s w; rewrite !mem_cat => /orP[wT sw | ]; first by rewrite (closed s w).
  move=> /mapP[i]; rewrite mem_filter => /andP[i_full i_in] ->.
  case c_i: (child l o i) i_full => [[j y]|]; last by rewrite /next_full c_i.
  rewrite {1}/next_full c_i => j_full; have str : next_string l st o i = rcons (string st j) y.
    by rewrite /next_string c_i.
  rewrite str prefix_of_rcons => /orP[/eqP -> | sj]; last by rewrite (closed s _ (slots j j_full) sj).
  apply/orP; right; apply/mapP; exists i; rewrite ?str // mem_filter i_in andbT.
  by rewrite /next_full c_i.
- by move=> i i_full; rewrite mem_cat; apply/orP; right; apply: map_f; rewrite mem_filter i_full mem_enum.
- by move=> i /advance_string[j [y [c_i nz _]]]; rewrite /next_full c_i; exact: shares.
- move=> k /mapP[k' k'_in ->] /= nz; have {}nz : k'.2 != 0.
    by apply: contraNneq nz => ->; rewrite mulr0.
  rewrite mem_cat; apply/orP; left.
  move: k'_in; rewrite mem_cat => /orP[k'_in | /mapP[u _ k'_u]]; first exact: ends.
  rewrite k'_u /=; apply: slots; apply: shares; apply: contraNneq nz => zero; rewrite k'_u /=.
  by rewrite /floor /aim zero mul0r max_eq_r // sub0r oppr_le0; exact: sigma_ge0.
Qed.

Lemma antichain_on_tree r st T full M :
    proper_reveal r -> good st -> on_tree T full st -> antichain M ->
  \sum_(m <- M) level_rule_mean model r st (fun w _ => (prefix m w)%:R) <= reveals M r st full T.
Proof.
move=> r_proper st_good st_tree M_anti; elim: r st T full r_proper st_good st_tree => [|l next IH].
  move=> st T full _ [s_ge0 stops_ge0 total] [closed slots shares ends] /=.
  set b := (has _ M)%:R; have most w : w \in T -> \sum_(m <- M) (prefix m w)%:R <= b.
    move=> wT; rewrite /b; case: (boolP (has (fun m => m \in T) M)) => [_ | none].
      exact: antichain_once.
    rewrite big_seq big1 // => m mM; case: (boolP (prefix m w)) => // mw.
    by case/hasP: none; exists m => //; apply: closed mw.
  have count (a : R) w : 0 <= a -> (a != 0 -> w \in T) -> a * (\sum_(m <- M) (prefix m w)%:R) <= a * b.
    move=> a_ge0 wT; case: (eqVneq a 0) => [->|/wT/most h]; first by rewrite !mul0r.
    exact: le_scale.
  have -> : b = \sum_(k <- stops st) k.2 * b + \sum_j share st j * b.
    by rewrite -!mulr_suml -mulrDl addrC total mul1r.
  rewrite big_split /=; apply: le_plus.
    rewrite exchange_big big_seq [leRHS]big_seq /=; apply: ler_sum => k k_in.
    by rewrite -mulr_sumr; apply: count; [exact: stops_ge0 | exact: ends].
  rewrite exchange_big /=; apply: ler_sum => j _; rewrite -mulr_sumr.
  rewrite (eq_bigr (fun m => (prefix m (string st j))%:R)); last first.
    move=> m _; rewrite -mulr_suml; have [_ e] := model_law (string st j).
    by rewrite [\sum_i _]e mul1r.
  by apply: count; [exact: s_ge0 | move/shares/slots].
move=> st T full /= [l_proper nexts] st_good st_tree; have [[chance_ge0 _] _ _] := l_proper.
rewrite exchange_big /=; apply: ler_sum => o _; rewrite -mulr_sumr.
case: (eqVneq (chance l o) 0) => [-> | o_neq0]; first by rewrite !mul0r.
apply: le_scale => //; apply: IH => //; last exact: advance_on_tree.
by apply: advance_good => //; rewrite lt_neqAle eq_sym o_neq0 chance_ge0.
Qed.

(** T14 holds for the level rule: over any antichain the paths that it accepts have the probability at
    most that a string of the antichain is revealed. *)
Theorem levels_antichain (root : J) r M :
    proper_reveal r -> antichain M ->
  \sum_(m <- M) level_rule_mean model r (start R V root) (fun w _ => (prefix m w)%:R)
  <= reveals M r (start R V root) (pred1 root) [:: [::]].
Proof.
move=> r_proper M_anti; apply: antichain_on_tree => //; first exact: start_good.
split=> //= [s w | j].
  by rewrite !inE => /eqP ->; rewrite prefixs0.
by case: (j == root) => //; rewrite eqxx.
Qed.

End Tree.
