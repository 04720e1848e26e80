(** T11: shadows. Token by token, by ascending density, the window of what is still free that has the
    right length and the right mass. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection optimal.
From resispec Require Import attained polytope carve.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(** Real closed fields: polynomials take the values between. The real numbers are one, the real
    algebraic numbers another; in the rationals the window of a given mass may not exist. *)
Definition real_closed (R : realFieldType) :=
  forall (p : {poly R}) (a b : R), a <= b -> p.[a] <= 0 <= p.[b] -> exists2 t, a <= t <= b & root p t.

Section Between.
Variable R : realFieldType.
Implicit Types (f g : R -> R) (a b c t : R).

(** f is a polynomial on each of finitely many intervals that make up [a, b]. *)
Inductive pieces f a b : Prop :=
| One (p : {poly R}) of (forall t, a <= t <= b -> f t = p.[t])
| Two m of a <= m & m <= b & pieces f a m & pieces f m b.

Lemma pieces_part f a b a1 b1 : pieces f a b -> a <= a1 -> a1 <= b1 -> b1 <= b -> pieces f a1 b1.
Proof.
move=> pf; elim: {a b} pf a1 b1 => [a b p fp | a b m am mb _ IH1 _ IH2] a1 b1 aa ab bb.
  by apply: (@One _ _ _ p) => t /andP[at1 tb]; apply: fp; rewrite (le_trans aa at1) (le_trans tb bb).
have [ma|/ltW am1] := leP m a1; first exact: IH2.
have [bm|/ltW mb1] := leP b1 m; first exact: IH1.
by apply: (Two am1 mb1); [exact: IH1 | exact: IH2].
Qed.

Lemma pieces_congr f g a b : (forall t, a <= t <= b -> f t = g t) -> pieces f a b -> pieces g a b.
Proof.
move=> fg pf; elim: {a b} pf fg => [a b p fp | a b m am mb _ IH1 _ IH2] fg.
  by apply: (@One _ _ _ p) => t h; rewrite -fg // fp.
apply: (Two am mb); [apply: IH1 | apply: IH2] => t /andP[h1 h2]; apply: fg.
- by rewrite h1 (le_trans h2 mb).
- by rewrite (le_trans am h1) h2.
Qed.

Lemma pieces_comb f g c a b : a <= b -> pieces f a b -> pieces g a b -> pieces (fun t => f t + c * g t) a b.
Proof.
move=> ab pf; elim: {a b} pf ab => [a b p fp | a b m am mb _ IH1 _ IH2] ab pg; last first.
  apply: (Two am mb); [apply: IH1 => // | apply: IH2 => //]; exact: (pieces_part pg _ _ _).
elim: {a b} pg ab fp => [a b r gr | a b m am mb _ IH1 _ IH2] ab fp.
  by apply: (@One _ _ _ (p + c%:P * r)) => t h; rewrite fp // gr // !hornerE.
apply: (Two am mb); [apply: IH1 => // | apply: IH2 => //] => t /andP[t1 t2]; apply: fp.
- by rewrite t1 (le_trans t2 mb).
- by rewrite (le_trans am t1) t2.
Qed.

Lemma pieces_shift f c a b : pieces f (a + c) (b + c) -> pieces (fun t => f (t + c)) a b.
Proof.
move: {2}(a + c) (erefl (a + c)) {2}(b + c) (erefl (b + c)) => a' ea b' eb; rewrite ea eb => pf.
elim: {a' b'} pf a b ea eb => [a' b' p fp | a' b' m am mb _ IH1 _ IH2] a b ea eb.
  apply: (@One _ _ _ (p \Po ('X + c%:P))) => t /andP[t1 t2]; rewrite horner_comp !hornerE fp //.
  by rewrite -ea -eb; apply/andP; split; [linear t1 | linear t2].
have e : m - c + c = m by arith.
apply: (@Two _ _ _ (m - c)); [by rewrite -ea in am; linear am | by rewrite -eb in mb; linear mb | |].
- by apply: IH1; rewrite ?e.
- by apply: IH2; rewrite ?e.
Qed.

Lemma pieces_const c a b : pieces (fun=> c) a b.
Proof. by apply: (@One _ _ _ c%:P) => t _; rewrite hornerC. Qed.

Lemma pieces_zero f a b : real_closed R -> a <= b -> pieces f a b -> f a <= 0 <= f b ->
  exists2 t, a <= t <= b & f t = 0.
Proof.
move=> closed ab pf; elim: {a b} pf ab => [a b p fp | a b m am mb _ IH1 _ IH2] ab /andP[fa fb].
  have [|t t_in /rootP zero] := closed p a b ab; first by rewrite -!fp ?lexx ?ab // fa.
  by exists t; rewrite ?fp.
case: (leP 0 (f m)) => [fm | /ltW fm].
  have [|t /andP[t1 t2] zero] := IH1 am; first by rewrite fa.
  by exists t; rewrite // t1 (le_trans t2 mb).
have [|t /andP[t1 t2] zero] := IH2 mb; first by rewrite fm.
by exists t; rewrite // t2 (le_trans am t1).
Qed.

End Between.

Section Windows.
Variables (R : realFieldType) (V : finType) (n : nat).
Implicit Types (l : seq (R * option V)) (z a b q u t : R).
Notation low := (low (power n)).

Lemma low_pieces z l a b : lengths l -> 0 <= a -> a <= b -> pieces (low z l) a b.
Proof.
elim: l z a b => [|[w [y|]] l IH] z a b /=; first by move=> _ _ _; exact: pieces_const.
  by move=> /andP[w_ge0 l_ok]; exact: IH.
move=> /andP[w_ge0 l_ok] a_ge0 ab.
have first a1 b1 : 0 <= a1 -> b1 <= w -> pieces (fun u => power n (z + Num.min u w) - power n z
    + low (z + w) l (u - Num.min u w)) a1 b1.
  move=> a1_ge0 b1w; apply: (@One _ _ _ _ ((z%:P + 'X) ^+ n.+1 - (power n z)%:P)) => t /andP[t1 t2].
  by rewrite (min_eq_l (le_trans t2 b1w)) subrr low_0 // addr0 !hornerE horner_exp !hornerE.
have later a1 b1 : w <= a1 -> a1 <= b1 -> pieces (fun u => power n (z + Num.min u w) - power n z
    + low (z + w) l (u - Num.min u w)) a1 b1.
  move=> wa1 ab1; apply: (pieces_congr (f := fun u => (power n (z + w) - power n z) + 1 * low (z + w) l (u + - w))).
    by move=> t /andP[t1 t2]; rewrite (min_eq_r (le_trans wa1 t1)) mul1r.
  apply: pieces_comb => //; first exact: pieces_const.
  by apply: pieces_shift; apply: IH => //; [rewrite subr_ge0 | linear ab1].
case: (leP w a) => [wa | /ltW aw]; first exact: later.
case: (leP b w) => [bw | /ltW wb]; first exact: first.
by apply: (Two aw wb); [exact: first | exact: later].
Qed.

Lemma low_all z l : lengths l -> low z l (free l) = owned (power n) None z l.
Proof.
elim: l z => [|[w [y|]] l IH] z //= /andP[w_ge0 l_ok].
  by rewrite free_cons /= !mul0r !add0r IH.
have l_free := free_ge0 l_ok.
rewrite free_cons /= !mul1r min_eq_r; last by linear l_free.
by have -> : w + free l - w = free l by [arith]; rewrite IH.
Qed.

(** A window of the free part with the mass s, if the lowest has at most that and the highest at least. *)
Lemma window_exists l q s : real_closed R -> lengths l -> 0 <= q <= free l ->
    low 0 l q <= s -> s <= low 0 l (free l) - low 0 l (free l - q) ->
  exists a, [/\ 0 <= a, a + q <= free l & low 0 l (a + q) - low 0 l a = s].
Proof.
move=> closed l_ok /andP[q_ge0 q_le] lowest highest; have top_ge0 : 0 <= free l - q by rewrite subr_ge0.
have parts : pieces (fun t => (- s + 1 * low 0 l (t + q)) + (- 1) * low 0 l t) 0 (free l - q).
  apply: pieces_comb => //; last exact: low_pieces.
  apply: pieces_comb => //; first exact: pieces_const.
  by apply: pieces_shift; apply: low_pieces => //; rewrite ?add0r //; linear top_ge0.
have [|t /andP[t_ge0 t_le] zero] := pieces_zero closed top_ge0 parts.
  have e : free l - q + q = free l by arith.
  rewrite add0r low_0 // e; apply/andP; split; [linear lowest | linear highest].
by exists t; split=> //; [linear t_le | from (1 : R) zero].
Qed.

End Windows.

Section Shadow.
Variables (R : realFieldType) (V : finType) (n : nat) (q s : V -> R).
Implicit Types (l : seq (R * option V)) (ts : seq V).
Hypotheses (closed : real_closed R) (q_ge0 : nonneg q).
Hypothesis (nothing : forall x, q x = 0 -> s x = 0).
Notation mass_low := (low (power n) 0).

(** Tokens by ascending s/q. *)
Fixpoint ascending ts : Prop :=
  if ts is x :: ts' then (forall y, y \in ts' -> s x * q y <= s y * q x) /\ ascending ts' else True.

Lemma ascending_sum x ts r : (forall y, y \in ts -> s x * q y <= s y * q x) -> {subset r <= ts} ->
  s x * (\sum_(y <- r) q y) <= q x * \sum_(y <- r) s y.
Proof.
move=> asc sub; rewrite !mulr_sumr big_seq [leRHS]big_seq; apply: ler_sum => y /sub /asc h.
by linear h.
Qed.

Lemma shadow ts l :
    lengths l -> ascending ts -> \sum_(x <- ts) q x = free l ->
    \sum_(x <- ts) s x = owned (power n) None 0 l ->
    (forall j, mass_low l (\sum_(x <- take j ts) q x) <= \sum_(x <- take j ts) s x) ->
  exists l', [/\ lengths l', free l' = 0 & forall x,
    owned id (Some x) 0 l' = owned id (Some x) 0 l + (count_mem x ts)%:R * q x
    /\ owned (power n) (Some x) 0 l' = owned (power n) (Some x) 0 l + (count_mem x ts)%:R * s x].
Proof.
elim: ts l => [|x ts IH] l l_ok.
  move=> _ len _ _; exists l; split=> // [|y]; first by rewrite -len big_nil.
  by rewrite /= !mul0r !addr0.
move=> [asc asc_ts]; rewrite !big_cons => len mass_l prefixes.
have rest_ge0 : 0 <= \sum_(y <- ts) q y by apply: sumr_ge0.
have q_le : 0 <= q x <= free l by rewrite q_ge0 /= -len; linear rest_ge0.
have [a [[a_ge0 fits window] a_zero]] : exists a, [/\ 0 <= a, a + q x <= free l
    & mass_low l (a + q x) - mass_low l a = s x] /\ (q x = 0 -> a = 0).
  case: (eqVneq (q x) 0) => [q0 | q_neq0].
    exists 0; rewrite q0 addr0 subrr nothing // lexx; split=> //; split=> //; exact: free_ge0.
  have q_gt0 : 0 < q x by rewrite lt_neqAle eq_sym q_neq0 q_ge0.
  have free_gt0 : 0 < free l by apply: lt_le_trans q_gt0 _; case/andP: q_le.
  have [] := window_exists (n := n) (s := s x) closed l_ok q_le.
  - by have := prefixes 1%N; rewrite /= take0 !big_seq1.
  - have h1 := highest_window n (lexx 0) l_ok q_le.
    have asc_x : forall y, y \in x :: ts -> s x * q y <= s y * q x.
      by move=> y; rewrite inE => /orP[/eqP -> // | /asc].
    have h2 := ascending_sum asc_x (r := x :: ts) (fun _ => id).
    rewrite !big_cons len mass_l -(low_all n 0 l_ok) in h2.
    rewrite leNgt; apply/negP => lt.
    have g : 0 < s x - (mass_low l (free l) - mass_low l (free l - q x)) by rewrite subr_gt0.
    have := mulr_gt0 free_gt0 g; rewrite ltNge => /negP; apply.
    by have h := le_trans h2 h1; linear h.
  by move=> a h; exists a; split=> // q0; rewrite q0 eqxx in q_neq0.
have l1_ok := carve_lengths x a_ge0 (q_ge0 x) l_ok; set l1 := carve x a (q x) l in l1_ok.
have a_le : a <= free l by apply: le_trans fits; have h := q_ge0 x; linear h.
have aq_ge0 : 0 <= a + q x by rewrite addr_ge0.
have window_id : low id 0 l (a + q x) - low id 0 l a = q x.
  by rewrite !low_length ?aq_ge0 ?a_ge0 //; arith.
have len1 : \sum_(y <- ts) q y = free l1.
  by rewrite /free /l1 carve_owned // window_id -/(free l) -len /=; arith.
have mass1 : \sum_(y <- ts) s y = owned (power n) None 0 l1.
  by rewrite /l1 carve_owned // window -mass_l /=; arith.
have prefixes1 j : mass_low l1 (\sum_(y <- take j ts) q y) <= \sum_(y <- take j ts) s y.
  set u := \sum_(y <- take j ts) q y; set S := \sum_(y <- take j ts) s y.
  have u_ge0 : 0 <= u by apply: sumr_ge0.
  case: (leP a u) => [au | ua].
    rewrite /l1 low_above // window; have := prefixes j.+1; rewrite /= !big_cons -/u -/S => h.
    by rewrite addrC in h; linear h.
  rewrite /l1 low_below ?u_ge0 ?(ltW ua) //.
  have q_gt0 : 0 < q x.
    rewrite lt_neqAle eq_sym q_ge0 andbT; apply/eqP => /a_zero a0.
    by have := lt_le_trans ua (eq_ind_r (fun a => a <= u) u_ge0 a0); rewrite ltxx.
  have h1 : q x * mass_low l u <= u * s x.
    by rewrite -window; apply: below_window => //; rewrite u_ge0 ltW.
  have h2 : s x * u <= q x * S by apply: ascending_sum asc _; exact: mem_take.
  rewrite leNgt; apply/negP => lt; have g : 0 < mass_low l u - S by rewrite subr_gt0.
  have := mulr_gt0 q_gt0 g; rewrite ltNge => /negP; apply.
  by have h := le_plus h1 h2; linear h.
have [l' [l'_ok none owns]] := IH l1 l1_ok asc_ts len1 mass1 prefixes1.
exists l'; split=> // y; have [-> ->] := owns y; rewrite /l1 !carve_owned // window window_id /=.
have same : (Some y == Some x) = (x == y) by apply/eqP/eqP => [[] | ->].
rewrite same natrD; case: (eqVneq x y) => [-> | _]; split; arith.
Qed.

End Shadow.
