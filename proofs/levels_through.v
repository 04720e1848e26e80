(** T15: shares are what they are called: their mean is the probability that the path goes through. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain tree_output levels levels_chain.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Through.
Variables (R : realFieldType) (V J Omega : finType) (model : seq V -> V -> R).
Hypothesis model_law : forall c, law (model c).
Implicit Types (r : reveal R V J Omega) (st : state R V J) (s w : seq V).

(** The mean, over the next d levels, of the shares of all instances with the string s. *)
Fixpoint shares_at d r st s : R :=
  match d, r with
  | 0, _ => \sum_j share st j * (string st j == s)%:R
  | d'.+1, Reveal l next => \sum_o chance l o * shares_at d' (next o) (advance model l st o) s
  | _.+1, Deepest => 0
  end.

(** The part of the stops whose path goes through s. *)
Definition stopped_through st s : R := \sum_(k <- stops st) k.2 * (prefix s k.1.1)%:R.

Lemma prefix_long s w y : (size s <= size w)%N -> prefix s (rcons w y) = prefix s w.
Proof. by elim: s w => [|x s IH] [|z w] //= s_le; rewrite ?prefix0s ?IH. Qed.

Lemma prefix_short s w : (size w < size s)%N -> prefix s w = false.
Proof. by elim: s w => [|x s IH] [|z w] //= s_gt; rewrite IH ?andbF. Qed.

Lemma prefix_equal s w : size w = size s -> prefix s w = (w == s).
Proof.
elim: s w => [|x s IH] [|z w] //= [sz].
by rewrite IH // eqseq_cons [x == z]eq_sym.
Qed.

(** All instances with a share are n tokens deep at least. *)
Definition deep (n : nat) st := forall j, share st j != 0 -> (n <= size (string st j))%N.

Lemma advance_string (l : level R V J Omega) st o i : share (advance model l st o) i != 0 ->
  exists j y, [/\ child l o i = Some (j, y), share st j != 0
                & string (advance model l st o) i = rcons (string st j) y].
Proof.
rewrite /= /next_share /next_string; case c_i: (child l o i) => [[j y]|]; last by rewrite eqxx.
move=> nz; exists j, y; split=> //; apply: contraNneq nz => zero.
by rewrite /aim zero !mul0r min_eq_r ?ler01 // mulr0.
Qed.

Lemma through_settled r st s :
    proper_reveal r -> good st -> deep (size s) st ->
  level_rule_mean model r st (fun w _ => (prefix s w)%:R)
  = stopped_through st s + \sum_j share st j * (prefix s (string st j))%:R.
Proof.
elim: r st => [|l next IH] st /=.
  move=> _ _ _; congr (_ + _); apply: eq_bigr => j _; rewrite -mulr_suml.
  by have [_ e] := model_law (string st j); rewrite [\sum_i _]e mul1r.
move=> [l_proper nexts] st_good st_deep.
have [[chance_ge0 _] _ _] := l_proper.
rewrite (eq_bigr (fun o => chance l o * (stopped_through (advance model l st o) s
  + \sum_j share (advance model l st o) j * (prefix s (string (advance model l st o) j))%:R))); last first.
  move=> o _; case: (eqVneq (chance l o) 0) => [-> | o_neq0]; first by rewrite !mul0r.
  rewrite IH //; first by apply: advance_good => //; rewrite lt_neqAle eq_sym o_neq0 chance_ge0.
  move=> i /advance_string[j [y [_ nz ->]]]; rewrite size_rcons; apply: leqW; exact: st_deep.
rewrite (level_mean model_law l_proper st_good (fun w _ => (prefix s w)%:R)
           (fun w => (prefix s w)%:R)); congr (_ + _).
rewrite (eq_bigr (fun u => aim model st u.1 u.2 * (prefix s (string st u.1))%:R)).
  rewrite -(pair_big xpredT xpredT (fun j y => aim model st j y * (prefix s (string st j))%:R)) /=.
  by apply: eq_bigr => j _; rewrite -mulr_suml (aim_mass model_law).
move=> [j y] _ /=; case: (eqVneq (share st j) 0) => [zero | nz].
  have a0 : aim model st j y = 0 by rewrite /aim zero mul0r.
  have s0 := sigma_ge0 l_proper j y.
  rewrite /floor /minimum a0 max_eq_r ?sub0r ?oppr_le0 // min_eq_l //; arith.
rewrite prefix_long; last exact: st_deep.
by rewrite -(minimum_floor (aim model st j) (sigma l j) y); arith.
Qed.

Lemma through_later d r st s :
    proper_reveal r -> good st ->
    (forall j, share st j != 0 -> (size (string st j) + d)%N = size s) ->
  level_rule_mean model r st (fun w _ => (prefix s w)%:R) = stopped_through st s + shares_at d r st s.
Proof.
elim: d r st => [|d IH] r st r_proper st_good sizes.
  rewrite through_settled //; last by move=> j /sizes; rewrite addn0 => ->.
  congr (_ + _); rewrite /=; case: r r_proper => [|l next] _; apply: eq_bigr => j _;
    case: (eqVneq (share st j) 0) => [->|/sizes]; rewrite ?mul0r // addn0 => sz;
    by rewrite prefix_equal.
case: r r_proper => [|l next] /=.
  move=> _; congr (_ + _); rewrite big1 // => j _.
  case: (eqVneq (share st j) 0) => [->|/sizes sz]; first by rewrite mul0r.
  rewrite prefix_short; last by rewrite -sz -addSnnS leq_addr.
  by rewrite big1 ?mulr0 // => y _; rewrite mulr0.
move=> [l_proper nexts]; have [[chance_ge0 _] _ _] := l_proper.
rewrite (eq_bigr (fun o => chance l o * stopped_through (advance model l st o) s
                    + chance l o * shares_at d (next o) (advance model l st o) s)); last first.
  move=> o _; case: (eqVneq (chance l o) 0) => [-> | o_neq0]; first by rewrite !mul0r addr0.
  rewrite -mulrDr; congr (_ * _); apply: IH => //.
    by apply: advance_good => //; rewrite lt_neqAle eq_sym o_neq0 chance_ge0.
  by move=> i /advance_string[j [y [_ nz ->]]]; rewrite size_rcons addSnnS; exact: sizes.
rewrite big_split /=; congr (_ + _).
have := level_mean model_law l_proper st_good (fun w _ => (prefix s w)%:R) (fun=> 0).
rewrite (eq_bigr (fun o => chance l o * stopped_through (advance model l st o) s)); last first.
  by move=> o _; congr (_ * _); rewrite [X in _ + X]big1 ?addr0 // => i _; rewrite mulr0.
move=> ->; rewrite [X in _ + X]big1 ?addr0 // => -[j y] _ /=; rewrite mulr0 addr0.
case: (eqVneq (share st j) 0) => [zero | /sizes sz]; last first.
  by rewrite prefix_short ?mulr0 // -sz -addSnnS leq_addr.
have a0 : aim model st j y = 0 by rewrite /aim zero mul0r.
by rewrite /floor a0 max_eq_r ?mul0r // sub0r oppr_le0 (sigma_ge0 l_proper).
Qed.

(** T15. The probability that the accepted path goes through s is the mean share of the instances of
    s, on the level where they are revealed. *)
Theorem through_is_share (root : J) r s :
    proper_reveal r ->
  level_rule_mean model r (start R V root) (fun w _ => (prefix s w)%:R)
  = shares_at (size s) r (start R V root) s.
Proof.
move=> r_proper; rewrite (through_later (d := size s) r_proper (start_good R V root)) //.
by rewrite /stopped_through big_nil add0r.
Qed.

End Through.

Section Chain.
Variables (R : realFieldType) (V J : finType) (model draft : seq V -> V -> R) (root : J).
Hypotheses (model_law : forall c, law (model c)) (draft_law : forall c, law (draft c)).

(** One instance: after the context c, in the slot [root]. *)
Definition single c (st : state R V J) := string st root = c /\ forall i, i != root -> share st i = 0.

Lemma advance_single c st x :
  single c st -> single (rcons c x) (advance model (chain_level draft root c) st x).
Proof.
move=> [st_c _]; split=> [|i /negbTE i_root] /=; first by rewrite /next_string /= eqxx st_c.
by rewrite /next_share /= i_root.
Qed.

Lemma shares_elsewhere d n c st s :
  single c st -> ~~ prefix c s -> shares_at model d (chain_reveal draft root n c) st s = 0.
Proof.
elim: d n c st => [|d IH] n c st st_single off.
  have [st_c others] := st_single.
  have -> : shares_at model 0 (chain_reveal draft root n c) st s
      = \sum_j share st j * (string st j == s)%:R by case: n.
  rewrite (bigD1 root) //= big1 => [|i /others ->]; last by rewrite mul0r.
  rewrite st_c addr0; case: eqP => [c_s|_]; last by rewrite mulr0.
  by rewrite c_s prefix_refl in off.
case: n => [|n] //=; rewrite big1 // => x _; rewrite (IH n (rcons c x)) ?mulr0 //.
  exact: advance_single.
by apply: contra off => /prefixP[u ->]; rewrite cat_rcons; apply/prefixP; exists (x :: u).
Qed.

Lemma shares_along n c st s :
    (size s <= n)%N -> single c st ->
  shares_at model (size s) (chain_reveal draft root n c) st (c ++ s)
  = joint draft c s * block_weight model draft c (share st root) s.
Proof.
elim: s n c st => [|x s IH] n c st.
  move=> _ [st_c others].
  have -> : shares_at model 0 (chain_reveal draft root n c) st (c ++ [::])
      = \sum_j share st j * (string st j == c ++ [::])%:R by case: n.
  rewrite (bigD1 root) //= big1 => [|i /others ->]; last by rewrite mul0r.
  by rewrite st_c cats0 eqxx; arith.
case: n => [|n] //= s_le st_single; have [st_c _] := st_single.
rewrite (bigD1 x) //= big1 => [|z /negbTE zx]; last first.
  rewrite (shares_elsewhere _ _ (c := rcons c z)) ?mulr0 //; first exact: advance_single.
  apply/negP => /prefixP[u]; rewrite cat_rcons => /eqP.
  by rewrite eqseq_cat // eqxx eqseq_cons eq_sym zx.
rewrite addr0 -cat_rcons IH //; last exact: advance_single.
have [sh _] := chain_share model draft root c st x; rewrite st_c in sh.
by rewrite /= sh mulrA.
Qed.

(** One child a node: the accepted path goes through s with the probability of block verification. *)
Theorem chain_through n s :
    (size s <= n)%N ->
  level_rule_mean model (chain_reveal draft root n [::]) (start R V root) (fun w _ => (prefix s w)%:R)
  = block_through model draft s.
Proof.
move=> s_le; rewrite through_is_share //; last exact: chain_proper.
rewrite (shares_along (c := [::]) s_le) /= ?eqxx //.
by split=> //= i /negbTE ->.
Qed.

End Chain.
