(** T15 with one child a node is block verification: the shares are its clipped weights. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output tree_bound levels.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Chain.
Variables (R : realFieldType) (V J : finType) (model draft : seq V -> V -> R) (root : J).
Hypotheses (model_law : forall c, law (model c)) (draft_law : forall c, law (draft c)).

(** Every level has one child, in the slot [root]: after the context c a token from the draft. It is
    picked. *)
Definition chain_level (c : seq V) : level R V J V :=
  Draw_level (draft c) (fun x i => if i == root then Some (root, x) else None) (fun _ _ => 1).
Fixpoint chain_reveal (n : nat) (c : seq V) : reveal R V J V :=
  if n is n'.+1 then Reveal (chain_level c) (fun x => chain_reveal n' (rcons c x)) else Deepest _ _ _ _.

Lemma one_child c x : (fun i : J => isSome (child (chain_level c) x i)) =1 pred1 root.
Proof. by move=> i /=; case: eqP. Qed.

Lemma chain_level_proper c : proper_level (chain_level c).
Proof.
split=> //= [o i | o]; first exact: ler01.
by rewrite (eq_bigl _ _ (one_child c o)) big_pred1_eq.
Qed.

Lemma chain_proper n c : proper_reveal (chain_reveal n c).
Proof. by elim: n c => [|n IH] c //=; split=> //; exact: chain_level_proper. Qed.

(** The law of the pick is the draft's, *)
Theorem chain_sigma c y : sigma (chain_level c) root y = draft c y.
Proof.
rewrite /sigma /= -[RHS](mass_point y (draft c)); apply: eq_bigr => x _; congr (_ * _).
rewrite (eq_bigl (fun i => (i == root) && (x == y))); last first.
  by move=> i; case: (i == root) => //; apply/eqP/eqP => [[] | ->].
case: eqP => [_ | _]; last by rewrite big1 // => i; rewrite andbF.
by rewrite (eq_bigl (pred1 root)) ?big_pred1_eq // => i; rewrite andbT.
Qed.

(** so the share of the child is min(1, a p / q), its string one token longer. *)
Theorem chain_share c st x :
  next_share model (chain_level c) st x root
    = Num.min 1 (share st root * model (string st root) x / draft c x)
  /\ next_string (chain_level c) st x root = rcons (string st root) x.
Proof. by rewrite /next_share /next_string /= eqxx chain_sigma mul1r. Qed.

(** Block verification's weights: w = 1 for no tokens, then min(1, w p / q) with every further one. *)
Fixpoint block_weight (c : seq V) (w : R) (s : seq V) : R :=
  if s is x :: s' then block_weight (rcons c x) (Num.min 1 (w * model c x / draft c x)) s' else w.

(** What is known after the tokens s have been revealed. *)
Fixpoint after (r : reveal R V J V) (st : state R V J) (s : seq V) : state R V J :=
  match r, s with
  | Reveal l next, x :: s' => after (next x) (advance model l st x) s'
  | _, _ => st
  end.

Lemma after_weight n c st s :
    (size s <= n)%N -> string st root = c ->
  share (after (chain_reveal n c) st s) root = block_weight c (share st root) s
  /\ string (after (chain_reveal n c) st s) root = c ++ s.
Proof.
elim: n c st s => [|n IH] c st [|x s] //= s_le st_c; rewrite ?cats0 //.
have [sh str] := chain_share c st x; rewrite st_c in sh; rewrite -cat_rcons -sh; apply: IH => //.
by rewrite /= str st_c.
Qed.

(** T15 for chains. Once s is revealed, the share of its instance is block verification's weight. *)
Theorem chain_is_block_verification n s :
    (size s <= n)%N ->
  share (after (chain_reveal n [::]) (start R V root) s) root = block_weight [::] 1 s
  /\ string (after (chain_reveal n [::]) (start R V root) s) root = s.
Proof.
move=> s_le; have [-> ->] := after_weight (st := start R V root) s_le erefl.
by rewrite /= eqxx.
Qed.

Lemma block_weight_rcons c w s x :
  block_weight c w (rcons s x)
  = Num.min 1 (block_weight c w s * model (c ++ s) x / draft (c ++ s) x).
Proof. by elim: s c w => [|y s IH] c w /=; rewrite ?cats0 // IH cat_rcons. Qed.

Lemma block_weight_ge0 c w s : 0 <= w -> 0 <= block_weight c w s.
Proof.
elim: s c w => [|x s IH] c w w_ge0 //=; apply: IH; apply: min_greatest; first exact: ler01.
have [m_ge0 _] := model_law c; have [d_ge0 _] := draft_law c.
by rewrite divr_ge0 // mulr_ge0.
Qed.

Lemma min_scale (k a b : R) : 0 <= k -> k * Num.min a b = Num.min (k * a) (k * b).
Proof.
move=> k_ge0; case: (leP a b) => [ab | /ltW ba]; first by rewrite min_eq_l // le_scale.
by rewrite min_eq_r // le_scale.
Qed.

(** In the mean over the draft, Q(s) w(s) is accepted through s, with Q the draft's joint law: each
    token is accepted as far as the draft reaches it and the target asks for it. *)
Definition block_through (s : seq V) : R := joint draft [::] s * block_weight [::] 1 s.

Theorem block_through_next s x :
  block_through (rcons s x) = Num.min (block_through s * model s x) (joint draft [::] (rcons s x)).
Proof.
rewrite /block_through block_weight_rcons joint_rcons /=.
have [m_ge0 _] := model_law s; have [d_ge0 _] := draft_law s.
set Q := joint draft _ s; have Q_ge0 : 0 <= Q by exact: joint_ge0.
have w_ge0 := block_weight_ge0 [::] s ler01; set w := block_weight _ _ _ in w_ge0 *.
rewrite -[Q * _ * _]mulrA scaled_min ?mulr_ge0 //.
by rewrite min_scale // mulrA.
Qed.

(** T14 for chains: no exact verifier of trees that contain s with probability Q(s) at most, as chains
    from the draft do, goes through any s more often. *)
Theorem block_through_best (Omega : finType) (P : Omega -> R) (tree : Omega -> seq (seq V)) emit s :
    law P -> trees tree -> tree_verifier tree emit -> tree_exact P tree emit model ->
    (forall m, contains P tree [:: m] <= joint draft [::] m) ->
  through P tree emit s <= block_through s.
Proof.
move=> P_law tree_closed emit_law exact_P reached.
have next := (tree_exact_next P_law emit_law model).1 exact_P.
elim/last_ind: s => [|s x IH]; first by rewrite (through_root P_law emit_law) /block_through mul1r.
rewrite block_through_next; apply: min_greatest.
  have [m_ge0 _] := model_law s; have h := le_scale (m_ge0 x) IH.
  apply: le_trans (_ : through P tree emit s * model s x <= _); last by linear h.
  by rewrite -next; have e_ge0 := ends_ge0 P_law emit_law s x; linear e_ge0.
apply: le_trans (reached _).
have anti : antichain [:: rcons s x] by split=> // m m'; rewrite !inE => /eqP -> /eqP ->.
by have := antichain_bound P_law tree_closed emit_law anti; rewrite big_seq1.
Qed.

End Chain.
