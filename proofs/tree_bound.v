(** T14, necessity: what no verifier of whole trees can exceed, and the linear program over all of
    them. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Strings.
Variables (R : realFieldType) (V : finType).
Implicit Types (M : seq (seq V)) (w m : seq V).

(** Strings none of which begins with another. *)
Definition antichain M := uniq M /\ forall m m', m \in M -> m' \in M -> prefix m m' -> m = m'.

Lemma prefix_comparable w m m' : prefix m w -> prefix m' w -> prefix m m' || prefix m' m.
Proof.
elim: w m m' => [|x w IH] [|y m] [|z m'] //=.
by move=> /andP[/eqP-> mw] /andP[/eqP-> mw']; rewrite eqxx /=; apply: IH.
Qed.

(** A path goes through one string of an antichain at most. *)
Lemma antichain_once M w : antichain M -> \sum_(m <- M) (prefix m w)%:R <= 1 :> R.
Proof.
move=> [M_uniq apart]; case: (boolP (has (fun m => prefix m w) M)) => [/hasP[m mM mw] | none].
  rewrite (bigD1_seq m) //= mw big_seq_cond big1 ?addr0 // => m' /andP[mM' /negP other].
  case: (boolP (prefix m' w)) => // mw'; case: other; apply/eqP.
  by case/orP: (prefix_comparable mw mw') => /apart -> .
rewrite big_seq big1 ?ler01 // => m mM; case: (boolP (prefix m w)) => // mw.
by case/hasP: none; exists m.
Qed.

(** The length of a path is the number of non-empty strings that it goes through. *)
Lemma prefixes_of_length k w : \sum_(t : k.-tuple V) (prefix t w)%:R = (k <= size w)%:R :> R.
Proof.
case: (leqP k (size w)) => [k_le | k_gt]; last first.
  rewrite big1 // => t _; case: (boolP (prefix t w)) => // /prefixP[u w_eq].
  by move: k_gt; rewrite w_eq size_cat size_tuple ltnNge leq_addr.
have sz : size (take k w) == k by rewrite size_takel.
have self : prefix (take k w) w by rewrite -{2}(cat_take_drop k w); apply/prefixP; exists (drop k w).
rewrite (bigD1 (Tuple sz)) //= self big1 ?addr0 // => t /eqP other.
case: (boolP (prefix t w)) => // /prefixP[u w_eq]; case: other; apply: val_inj => /=.
by rewrite w_eq take_size_cat ?size_tuple.
Qed.

Lemma length_by_prefixes n w :
  (size w <= n)%N -> (size w)%:R = \sum_(k < n) \sum_(t : k.+1.-tuple V) (prefix t w)%:R :> R.
Proof.
move=> w_le; rewrite (eq_bigr (fun k : 'I_n => (k < size w)%:R)); last first.
  by move=> k _; exact: prefixes_of_length.
have count (l : nat) : \sum_(k < l) (k < size w)%:R = (minn l (size w))%:R :> R.
  elim: l => [|l IH]; first by rewrite big_ord0 min0n.
  rewrite big_ord_recr /= IH; case: (boolP (l < size w)%N) => h.
    by rewrite (minn_idPl h) (minn_idPl (ltnW h)) -natrD addn1.
  by rewrite -leqNgt in h; rewrite addr0 (minn_idPr h) (minn_idPr (leqW h)).
by rewrite count (minn_idPr w_le).
Qed.

End Strings.

Section Bound.
Variables (R : realFieldType) (V Omega : finType).
Variables (P : Omega -> R) (tree : Omega -> seq (seq V)) (emit : Omega -> seq V -> V -> R).
Hypotheses (P_law : law P) (tree_closed : trees tree) (emit_law : tree_verifier tree emit).

(** The probability that the tree contains a string of M. *)
Definition contains (M : seq (seq V)) : R := \sum_(o | has (fun m => m \in tree o) M) P o.

(** T14. For any verifier, exact or not, and any antichain M, the accepted path goes through a
    string of M with at most the probability that the tree contains one. *)
Theorem antichain_bound M : antichain M -> \sum_(m <- M) through P tree emit m <= contains M.
Proof.
move=> M_anti; have [P_ge0 _] := P_law.
rewrite -(mean_sum P tree emit M (fun m w _ => (prefix m w)%:R)).
rewrite /mean /contains [leRHS]big_mkcond; apply: ler_sum => o _; have [e_ge0 e_mass] := emit_law o.
case: ifP => [_ | /negbT none].
  rewrite -[leRHS]mulr1; apply: le_scale => //; rewrite -[leRHS]e_mass; apply: ler_sum => w _.
  apply: ler_sum => y _; rewrite -[leRHS]mulr1; apply: le_scale => //; exact: antichain_once.
rewrite big_seq big1 ?mulr0 // => w w_in; rewrite big1 // => y _.
rewrite big_seq big1 ?mulr0 // => m mM; case: (boolP (prefix m w)) => // mw.
have [_ _ closed] := tree_closed o.
by case/hasP: none; exists m; [| apply: closed mw].
Qed.

(** The expected accepted length. *)
Definition accepted_length : R := mean P tree emit (fun w _ => (size w)%:R).

Lemma length_through n :
  (forall o w, w \in tree o -> (size w <= n)%N) ->
  accepted_length = \sum_(k < n) \sum_(t : k.+1.-tuple V) through P tree emit t.
Proof.
move=> depth; rewrite /accepted_length.
rewrite (mean_on_trees P emit (g := fun w _ =>
  \sum_(k < n) \sum_(t : k.+1.-tuple V) (prefix t w)%:R)) => [|o w x w_in]; last first.
  by rewrite (length_by_prefixes R (depth o w w_in)).
by rewrite mean_sum; apply: eq_bigr => k _; rewrite mean_sum.
Qed.

(** The linear program: its unknowns g, its constraints and its objective. *)
Variable model : seq V -> V -> R.
Hypothesis model_law : forall c, law (model c).

Definition feasible (g : seq V -> R) :=
  [/\ g [::] = 1, forall s y, g (rcons s y) <= g s, forall s, 0 <= g s * target model s &
      forall M, antichain M -> \sum_(m <- M) g m * target model m <= contains M].

Definition objective n (g : seq V -> R) : R :=
  \sum_(k < n) \sum_(t : k.+1.-tuple V) g t * target model t.

(** T14. Every exact verifier is a feasible point, with its expected accepted length as objective, *)
Theorem exact_is_feasible n :
    (forall o w, w \in tree o -> (size w <= n)%N) -> tree_exact P tree emit model ->
  exists g, feasible g /\ accepted_length = objective n g.
Proof.
move=> depth /(tree_exact_iff P_law emit_law model_law)[g [g_root form]]; exists g.
have a_g s : through P tree emit s = g s * target model s by have [] := form s.
split; last first.
  rewrite (length_through depth); apply: eq_bigr => k _; apply: eq_bigr => t _; exact: a_g.
split=> // [s y | s | M M_anti]; first by have [_ /(_ y)[]] := form s.
- by rewrite -a_g; exact: through_ge0.
- rewrite (eq_bigr (through P tree emit)) => [|m _]; [exact: antichain_bound | by rewrite a_g].
Qed.

(** so no exact verifier beats the linear program. *)
Theorem exact_le_linear_program n best :
    (forall o w, w \in tree o -> (size w <= n)%N) -> tree_exact P tree emit model ->
  (forall g, feasible g -> objective n g <= best) -> accepted_length <= best.
Proof.
by move=> depth exact_P upper; have [g [ok ->]] := exact_is_feasible depth exact_P; apply: upper.
Qed.

End Bound.
