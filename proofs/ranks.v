(** T11, attained: a cut of [0, 1] by which the candidate of the largest rank has any law that a pick of
    independent candidates can have. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection die optimal.
From resispec Require Import frontier attained polytope carve shadow.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Row.
Variables (R : realFieldType) (V : finType) (n : nat) (q s : V -> R).
Hypotheses (closed : real_closed R) (q_law : law q) (s_law : law s).
Hypothesis above : forall H : {set V}, (\sum_(x in H) q x) ^+ n.+1 <= \sum_(x in H) s x.

Let without (F : V -> R) x : law F -> \sum_(y in [set~ x]) F y = 1 - F x.
Proof.
move=> [_ one]; rewrite -one /mass [in RHS](bigD1 x) //= (eq_bigl (fun y => y != x)) => [|y]; last by rewrite !inE.
arith.
Qed.

Lemma unseen x : q x = 0 -> s x = 0.
Proof.
move=> q0; have := above [set~ x]; rewrite !without // q0 subr0 expr1n => h.
by have [s_ge0 _] := s_law; apply: eq_of_le => //; linear h.
Qed.

Let flatter x y : bool := s x / q x <= s y / q y.

Lemma ascending_sorted ts : sorted flatter ts -> ascending q s ts.
Proof.
have [q_ge0 _] := q_law.
have tr : transitive flatter by move=> x y z; exact: le_trans.
elim: ts => [|x ts IH] //= path_x; split; last exact: IH (path_sorted path_x).
move=> y y_in; have := allP (order_path_min tr path_x) y y_in; rewrite /flatter.
case: (eqVneq (q x) 0) => [qx0 | qx]; first by move=> _; rewrite (unseen qx0) qx0 mul0r mulr0.
case: (eqVneq (q y) 0) => [qy0 | qy]; first by move=> _; rewrite (unseen qy0) qy0 mul0r mulr0.
move=> h; have g := le_scale (mulr_ge0 (q_ge0 x) (q_ge0 y)) h.
have e1 : q x * q y * (s x / q x) = s x * q y.
  by have v : q x * (q x)^-1 = 1 := mulfV qx; from (s x * q y) v.
have e2 : q x * q y * (s y / q y) = s y * q x.
  by have v : q y * (q y)^-1 = 1 := mulfV qy; from (s y * q x) v.
by rewrite e1 e2 in g.
Qed.

(** A row of pieces of total length 1 in which x owns the length q x and the mass s x. *)
Lemma row_exists : exists l, [/\ lengths l, free l = 0 &
  forall x, owned id (Some x) 0 l = q x /\ owned (power n) (Some x) 0 l = s x].
Proof.
have [q_ge0 q_one] := q_law; have [_ s_one] := s_law.
pose ts := sort flatter (enum V); pose l0 : seq (R * option V) := [:: (1, None)].
have ts_uniq : uniq ts by rewrite sort_uniq enum_uniq.
have ts_all x : x \in ts by rewrite mem_sort mem_enum.
have asc : ascending q s ts.
  by apply/ascending_sorted/sort_sorted => x y; exact: le_total.
have all_of (F : V -> R) : \sum_(x <- ts) F x = mass F.
  by rewrite big_uniq //; apply: eq_bigl => x; rewrite ts_all.
have l0_ok : lengths l0 by rewrite /lengths /= ler01.
have free0 : free l0 = 1 by rewrite free_cons /= /free /= mul1r addr0.
have mass0 : owned (power n) None 0 l0 = 1.
  by rewrite /= /power mul1r add0r expr1n expr0n /= subr0 addr0.
have prefixes j : low (power n) 0 l0 (\sum_(x <- take j ts) q x) <= \sum_(x <- take j ts) s x.
  have tu : uniq (take j ts) by exact: take_uniq.
  have in_set (F : V -> R) : \sum_(x <- take j ts) F x = \sum_(x in [set y in take j ts]) F x.
    by rewrite big_uniq //; apply: eq_bigl => x; rewrite inE.
  rewrite !in_set; apply: le_trans (above _); set u := \sum_(x in _) q x.
  have u_le : u <= 1.
    rewrite /u -in_set -q_one -(all_of q) -[X in _ <= \sum_(x <- X) _](cat_take_drop j ts) big_cat /=.
    have h : 0 <= \sum_(x <- drop j ts) q x by [apply: sumr_ge0]; linear h.
  by rewrite /= (min_eq_l u_le) /power add0r expr0n /= subr0 addr0.
have nothing := unseen.
have [||l [l_ok none owns]] := shadow closed q_ge0 nothing l0_ok asc _ _ prefixes.
- by rewrite all_of free0.
- by rewrite all_of mass0.
exists l; split=> // x; have [-> ->] := owns x; rewrite /= count_uniq_mem // ts_all /=.
by rewrite !mul0r !add0r !mul1r.
Qed.

End Row.

(** The same row as a cut in the sense of [rank_law]: intervals in order, each with an owner. *)
Section Cut.
Variables (R : realFieldType) (V : finType) (x0 : V).
Implicit Types (l : seq (R * option V)) (F : R -> R) (z : R).

Let at_piece l j : R * option V := nth (0, None) l j.
Definition before l j : R := \sum_(k <- take j l) k.1.

Lemma owned_pieces F o z l : owned F o z l
  = \sum_(j < size l) (o == (at_piece l j).2)%:R * (F (z + before l j.+1) - F (z + before l j)).
Proof.
elim: l z => [|k l IH] z /=; first by rewrite big_ord0.
rewrite big_ord_recl /= /before /= take0 big_cons !big_nil !addr0; congr (_ + _).
rewrite IH; apply: eq_bigr => j _; rewrite /before /at_piece /= !big_cons.
by rewrite !addrA.
Qed.

Lemma before_sum l (j : nat) : \sum_(i < size l | (i < j)%N) (at_piece l i).1 = before l j.
Proof.
rewrite big_mkcond; elim: l j => [|k l IH] [|j]; rewrite /before /=.
- by rewrite big_ord0 big_nil.
- by rewrite big_ord0 big_nil.
- by rewrite big_nil big1.
by rewrite big_ord_recl big_cons -/(before l j) -IH.
Qed.

Lemma before_next l (j : nat) : (j < size l)%N -> before l j.+1 = before l j + (at_piece l j).1.
Proof. by move=> j_lt; rewrite /before (take_nth (0, None) j_lt) -cats1 big_cat big_seq1. Qed.

Lemma free_empty l j : lengths l -> free l = 0 -> (at_piece l j).2 = None -> (at_piece l j).1 = 0.
Proof.
elim: l j => [|k l IH] [|j] //= /andP[k_ge0 l_ok]; rewrite free_cons => none.
  rewrite /at_piece /= => k_none; rewrite k_none mul1r in none; apply: eq_of_le => //.
  by have h := free_ge0 l_ok; apply: (le_from h); from (- 1 : R) none.
apply: IH => //; apply: eq_of_le; last exact: free_ge0.
have h : 0 <= (None == k.2)%:R * k.1 by rewrite mulr_ge0 ?ler0n.
by apply: (le_from h); from (- 1 : R) none.
Qed.

Variables (k : R * option V) (l1 : seq (R * option V)).
Let l := k :: l1.
Hypotheses (l_ok : lengths l) (l_full : free l = 0).

Definition piece_size (j : 'I_(size l1).+1) : R := (at_piece l j).1.
Definition piece_owner (j : 'I_(size l1).+1) : V := odflt x0 (at_piece l j).2.

Lemma starts_before j : starts piece_size j = before l j.
Proof. exact: (before_sum l j). Qed.

Lemma ends_before j : ends piece_size j = before l j.+1.
Proof. by rewrite -(before_sum l j.+1); apply: eq_bigl => i; rewrite ltnS. Qed.

Lemma owned_cut F x :
  owned F (Some x) 0 l = \sum_(j | piece_owner j == x) (F (ends piece_size j) - F (starts piece_size j)).
Proof.
rewrite owned_pieces [RHS]big_mkcond; apply: eq_bigr => j _.
rewrite ends_before starts_before !add0r /piece_owner.
case own: (at_piece l j).2 => [y|] /=; last first.
  by rewrite mul0r before_next // (free_empty l_ok l_full own) addr0 subrr; case: ifP.
have -> : (Some x == Some y) = (y == x) by apply/eqP/eqP => [[] | ->].
by case: (y == x); rewrite ?mul1r ?mul0r.
Qed.

End Cut.

Section Attained.
Variables (R : realFieldType) (V : finType) (n : nat) (p q : V -> R).
Hypotheses (closed : real_closed R) (p_law : law p) (q_law : law q).

(** T11. Every law that a pick of K = n + 1 independent candidates can have is the law of the largest
    rank for some cut of [0, 1] in which every token owns the length q. *)
Theorem cut_exists s : law s -> (forall H : {set V}, (\sum_(x in H) q x) ^+ n.+1 <= \sum_(x in H) s x) ->
  exists N (size : 'I_N.+1 -> R) (owner : 'I_N.+1 -> V),
    [/\ law size, forall x, \sum_(j | owner j == x) size j = q x &
        pick_law (@independent _ _ size n.+1) (rank_pick R owner (K := n)) =1 s].
Proof.
move=> s_law above; have [q_ge0 q_one] := q_law.
have [x0 _] : exists x0 : V, true.
  case: (pickP (@predT V)) => [x _ | none]; first by exists x.
  by move: q_one; rewrite /mass big_pred0 // => /esym/eqP; rewrite oner_eq0.
have [[|k l1] [l_ok none owns]] := row_exists closed q_law s_law above.
  move: q_one; rewrite /mass big1 => [/esym/eqP | x _]; first by rewrite oner_eq0.
  by have [<- _] := owns x.
exists (size l1), (@piece_size R V k l1), (@piece_owner R V x0 k l1).
have lengths_q x : \sum_(j | @piece_owner R V x0 k l1 j == x) @piece_size R V k l1 j = q x.
  have [<- _] := owns x; rewrite (owned_cut x0 l_ok none); apply: eq_bigr => j _.
  by rewrite ends_before starts_before before_next // addrC addKr.
split=> //.
  split=> [j|]; first exact: (all_nthP (0, None) l_ok).
  rewrite /mass -q_one (partition_big (@piece_owner R V x0 k l1) xpredT) //=.
  by apply: eq_bigr => x _; exact: lengths_q.
by move=> x; rewrite rank_law; have [_ <-] := owns x; rewrite (owned_cut x0 l_ok none).
Qed.

(** T11, attained. So for some cut one speculative step against the law of the largest rank is exact
    and accepts the bound, the least p(H) + 1 - q(H)^K. *)
Theorem ranks_attained : exists N (size : 'I_N.+1 -> R) (owner : 'I_N.+1 -> V) (H : {set V}),
  let draws := @independent _ _ size n.+1 in
  let rule := canonical draws (rank_pick R owner (K := n)) p in
  [/\ law size /\ forall x, \sum_(j | owner j == x) size j = q x,
      verifier_law draws rule =1 p,
      verifier_acceptance draws (tokens owner) rule = \sum_(x in H) p x + 1 - (\sum_(x in H) q x) ^+ n.+1 &
      forall H' : {set V}, \sum_(x in H) p x + 1 - (\sum_(x in H) q x) ^+ n.+1
        <= \sum_(x in H') p x + 1 - (\sum_(x in H') q x) ^+ n.+1].
Proof.
have d_law : law (@independent _ _ q n.+1) := independent_law n.+1 q_law.
have some o : @shown V n.+1 o != set0.
  by apply/set0Pn; exists (o ord0); apply/imsetP; exists ord0.
have inside H : all_inside (@independent _ _ q n.+1) (@shown V n.+1) H = (\sum_(x in H) q x) ^+ n.+1.
  exact: independent_sum.
have [pick [H [picks only attains least_H _]]] := pick_attained d_law p_law some.
set s := pick_law _ pick in attains.
have base : base_polytope (@independent _ _ q n.+1) (@shown V n.+1) s.
  by apply/(pick_laws d_law s some); exists pick.
have [s_law above] := base.
have [|N [size [owner [size_law lens same]]]] := cut_exists s_law.
  by move=> H'; rewrite -inside; exact: above.
exists N, size, owner, H => draws rule.
have exact_p : verifier_law draws rule =1 p by exact: ranks_exact.
have rate_ge : \sum_(x in H) p x + 1 - (\sum_(x in H) q x) ^+ n.+1 <= verifier_acceptance draws (tokens owner) rule.
  apply: le_trans _ (@ranks_acceptance R V N n size owner size_law p p_law).
  rewrite -inside -/(cut _ _ p H) -attains le_eqVlt; apply/orP; left; apply/eqP.
  by apply: eq_bigr => x _; rewrite same.
have least (H' : {set V}) : \sum_(x in H) p x + 1 - (\sum_(x in H) q x) ^+ n.+1
    <= \sum_(x in H') p x + 1 - (\sum_(x in H') q x) ^+ n.+1.
  by have := least_H H'; rewrite /cut !inside.
split=> //; apply: eq_of_le => //.
have draws_law : law draws by exact: independent_law.
have rule_law : verifier rule.
  by apply: canonical_verifier => // o; exact: rank_pick_law.
have in_H : all_inside draws (tokens owner) H = (\sum_(x in H) q x) ^+ n.+1.
  have -> : \sum_(x in H) q x = \sum_(j in [set j | owner j \in H]) size j.
    rewrite [RHS](partition_big owner (mem H)) /= => [|j]; last by rewrite inE.
    apply: eq_bigr => x xH; rewrite -lens; apply: eq_bigl => j.
    by rewrite inE; case: eqP => [-> | _]; rewrite ?xH ?andbF.
  rewrite -independent_sum /all_inside; apply: eq_bigl => o.
  apply/subsetP/subsetP => [h j | h x] /imsetP[i _ ->].
    by rewrite inE; apply: h; apply/imsetP; exists i.
  by have := h (o i); rewrite inE; apply; apply/imsetP; exists i.
by rewrite -in_H; exact: acceptance_upper_bound draws_law rule_law exact_p.
Qed.

End Attained.

(** The real closed fields of MathComp are closed in this sense. *)
Lemma real_closed_fields (R : rcfType) : real_closed R.
Proof. exact: poly_ivt. Qed.

Section Die.
Variable R : realFieldType.

(** The die with two candidates from a draft that knows two faces: face 0 owns the middle half of [0, 1],
    face 1 the outer quarters. Both win with probability 1/2, so that 2/3 is accepted, the bound. *)
Definition quarters (j : 'I_3) : R := if j == face1 then 2%:R^-1 else 4%:R^-1.
Definition middle_or_outer (j : 'I_3) : 'I_3 := if j == face1 then face0 else face1.

Let draws : {ffun 'I_2 -> 'I_3} -> R := @independent _ _ quarters 2.
Let picks := rank_pick R middle_or_outer (K := 1).

Theorem die_cut :
  [/\ law quarters, forall x, \sum_(j | middle_or_outer j == x) quarters j = two_faces R x,
      pick_law draws picks =1 two_faces R &
      verifier_acceptance draws (tokens middle_or_outer) (canonical draws picks (die R)) = 2%:R / 3%:R].
Proof.
set e := 4%:R^-1 : R; have e4 : 4%:R * e = 1 by rewrite mulfV // pnatr_eq0.
have e_ge0 : 0 <= e by rewrite invr_ge0 ler0n.
have half : 2%:R^-1 = 2%:R * e.
  have v2 : 2%:R * 2%:R^-1 = 1 :> R by rewrite mulfV // pnatr_eq0.
  have w : 2%:R^-1 * (4%:R * e) = 2%:R * e * (2%:R * 2%:R^-1) by arith.
  by rewrite e4 v2 !mulr1 in w.
have size_law : law quarters.
  split=> [j|]; first by rewrite /quarters; case: ifP => _; rewrite invr_ge0 ler0n.
  by rewrite /mass sum3 /quarters /= half -/e; from (1 : R) e4.
have lens x : \sum_(j | middle_or_outer j == x) quarters j = two_faces R x.
  rewrite big_mkcond sum3; move: x; apply: all3; rewrite /quarters /two_faces /middle_or_outer /= ?half -/e; arith.
have wins : pick_law draws picks =1 two_faces R.
  move=> x; rewrite rank_law big_mkcond sum3 /starts /ends ![\sum_(i < 3 | _) _]big_mkcond !sum3.
  rewrite /quarters /= half -/e; move: x; apply: all3; rewrite /middle_or_outer /two_faces /= ?half.
  - from (2%:R * e) e4.
  - from (2%:R * e) e4.
  - arith.
split=> //; have p_law := die_law R; have draws_law : law draws by exact: independent_law.
have picks_law : forall o, law (picks o) by move=> o; exact: rank_pick_law.
apply: eq_of_le.
  have rule_law : verifier (canonical draws picks (die R)) by exact: canonical_verifier.
  have exact_p : verifier_law draws (canonical draws picks (die R)) =1 die R by exact: canonical_exact.
  apply: le_trans (acceptance_upper_bound (tokens middle_or_outer) known_faces draws_law rule_law exact_p) _.
  have -> : all_inside draws (tokens middle_or_outer) known_faces = 1.
    have [_ one] := draws_law; rewrite -one; apply: eq_bigl => o; apply/subsetP => x /imsetP[i _ ->].
    by rewrite /middle_or_outer !inE; case: ifP.
  rewrite big_mkcond sum3 !inE /= /die le_eqVlt; apply/orP; left; apply/eqP; arith.
apply: le_trans _ (@ranks_acceptance R _ 2 1 quarters middle_or_outer size_law (die R) p_law).
rewrite -(die_pick_attains R) le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => x _.
by rewrite /minimum candidate_pick_law wins.
Qed.

End Die.
