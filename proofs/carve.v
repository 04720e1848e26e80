(** T11: pieces of [0, 1], some owned and some free; carving a window out of the free part; and the mass
    of the lowest part, which is convex. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain recursive_rejection optimal.
From resispec Require Import attained polytope.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Pieces.
Variables (R : realFieldType) (V : finType).
Notation piece := (R * option V)%type.
Implicit Types (l : seq piece) (o : option V) (x : V) (z a q u w : R).

(** A row of pieces: lengths, and owners if they have one. *)
Definition lengths l := all (fun k => 0 <= k.1) l.

Section Measured.
Variable F : R -> R.

(** What o owns of a row that starts at z, measured by F; and the lowest u of what is free. *)
Fixpoint owned o z l : R :=
  if l is k :: l' then (o == k.2)%:R * (F (z + k.1) - F z) + owned o (z + k.1) l' else 0.
Fixpoint low z l u : R :=
  if l is k :: l' then
    if k.2 is Some _ then low (z + k.1) l' u
    else F (z + Num.min u k.1) - F z + low (z + k.1) l' (u - Num.min u k.1)
  else 0.

End Measured.

Definition free l : R := owned id None 0 l.

(** The window of length q that leaves a of the free part below it, given to x. *)
Fixpoint carve x a q l : seq piece :=
  if l is k :: l' then
    if k.2 is Some _ then k :: carve x a q l'
    else let v := Num.min a k.1 in let v' := Num.min q (k.1 - v) in
         [:: (v, None), (v', Some x), (k.1 - v - v', None) & carve x (a - v) (q - v') l']
  else [::].

Lemma free_cons k l : free (k :: l) = (None == k.2)%:R * k.1 + free l.
Proof.
have shift z z' : owned id None z l = owned id None z' l.
  by elim: l z z' => [|k' l IH] z z' //=; rewrite (IH _ (z' + k'.1)); congr (_ + _); arith.
rewrite /free /= (shift _ 0); arith.
Qed.

Lemma free_ge0 l : lengths l -> 0 <= free l.
Proof.
elim: l => [|k l IH] /=; first by rewrite /free.
by move=> /andP[k_ge0 /IH h]; rewrite free_cons addr_ge0 // mulr_ge0 ?ler0n.
Qed.

Lemma low_0 F z l : lengths l -> low F z l 0 = 0.
Proof.
elim: l z => [|[w [y|]] l IH] z //= /andP[w_ge0 l_ok]; first exact: IH.
by rewrite min_eq_l // addr0 !subrr add0r IH.
Qed.

(** What is left of u after one piece. *)
Lemma min_parts u w : 0 <= u -> 0 <= w ->
  [/\ 0 <= Num.min u w, Num.min u w <= w, Num.min u w <= u
    & (u <= w -> Num.min u w = u) /\ (w <= u -> Num.min u w = w)].
Proof.
move=> u_ge0 w_ge0; split; [exact: min_greatest | exact: min_right | exact: min_left |].
by split=> h; [exact: min_eq_l | exact: min_eq_r].
Qed.

Lemma carve_parts a q w : 0 <= a -> 0 <= q -> 0 <= w ->
  let v := Num.min a w in let v' := Num.min q (w - v) in
  [/\ 0 <= v, 0 <= v', 0 <= w - v - v', 0 <= a - v & 0 <= q - v' /\ Num.min (a + q) w = v + v'].
Proof.
move=> a_ge0 q_ge0 w_ge0 v v'; have [v_ge0 v_w v_a _] := min_parts a_ge0 w_ge0.
have r_ge0 : 0 <= w - v by rewrite subr_ge0.
have [v'_ge0 v'_r v'_q _] := min_parts q_ge0 r_ge0.
split=> //; rewrite ?subr_ge0 //; split=> //; rewrite /v' /v.
case: (leP a w) => [aw | /ltW wa].
  case: (leP q (w - a)) => [qw | /ltW wq].
    by apply: min_eq_l; linear qw.
  have -> : a + (w - a) = w by arith.
  by apply: min_eq_r; linear wq.
rewrite subrr (min_eq_r q_ge0) addr0; apply: min_eq_r; have h := le_plus wa q_ge0; linear h.
Qed.

Lemma carve_lengths x a q l : 0 <= a -> 0 <= q -> lengths l -> lengths (carve x a q l).
Proof.
elim: l a q => [|[w [y|]] l IH] a q a_ge0 q_ge0 //= /andP[w_ge0 l_ok]; first by rewrite w_ge0 IH.
by have [-> -> -> a' [q' _]] := carve_parts a_ge0 q_ge0 w_ge0; rewrite IH.
Qed.

(** The window goes from the free part to x. *)
Lemma carve_owned F x a q l o z : 0 <= a -> 0 <= q -> lengths l ->
  owned F o z (carve x a q l)
  = owned F o z l + ((o == Some x)%:R - (o == None)%:R) * (low F z l (a + q) - low F z l a).
Proof.
elim: l a q z => [|[w [y|]] l IH] a q z a_ge0 q_ge0 /=; first by move=> _; arith.
  by move=> /andP[w_ge0 l_ok]; rewrite IH //; arith.
move=> /andP[w_ge0 l_ok]; have [v_ge0 v'_ge0 r_ge0 a'_ge0 [q'_ge0 both]] := carve_parts a_ge0 q_ge0 w_ge0.
rewrite both; set v := Num.min a w in v_ge0 v'_ge0 r_ge0 a'_ge0 q'_ge0 both *.
set v' := Num.min q (w - v) in v'_ge0 r_ge0 q'_ge0 both *.
have -> : z + v + v' + (w - v - v') = z + w by arith.
rewrite IH //; have -> : a - v + (q - v') = a + q - (v + v') by arith.
by rewrite (addrA z v v'); arith.
Qed.

Lemma low_length z l u : lengths l -> 0 <= u <= free l -> low id z l u = u.
Proof.
elim: l z u => [|[w [y|]] l IH] z u /=.
- by move=> _ /andP[u_ge0 u_le]; apply: eq_of_le.
- by move=> /andP[w_ge0 l_ok]; rewrite free_cons /= mul0r add0r => u_in; exact: IH.
move=> /andP[w_ge0 l_ok]; rewrite free_cons /= mul1r => /andP[u_ge0 u_le].
have [v_ge0 v_w v_u [le_case ge_case]] := min_parts u_ge0 w_ge0.
rewrite IH //; first by arith.
rewrite subr_ge0 v_u /=; case: (leP u w) => [uw | wu]; first by rewrite subrr free_ge0.
by linear u_le.
Qed.

Lemma rest_free u w l : lengths l -> 0 <= u -> 0 <= w -> u <= w + free l ->
  0 <= u - Num.min u w <= free l.
Proof.
move=> l_ok u_ge0 w_ge0 u_le; rewrite subr_ge0 min_left /=.
case: (leP u w) => [uw | wu]; first by rewrite subrr free_ge0.
by linear u_le.
Qed.

(** Below the window nothing has changed, above it the window is left out. *)
Lemma low_below F x a q l z u : 0 <= a -> 0 <= q -> lengths l -> 0 <= u <= a ->
  low F z (carve x a q l) u = low F z l u.
Proof.
elim: l a q z u => [|[w [y|]] l IH] a q z u a_ge0 q_ge0 //=.
  by move=> /andP[w_ge0 l_ok] u_in; rewrite IH.
move=> /andP[w_ge0 l_ok] /andP[u_ge0 ua].
have [v_ge0 v'_ge0 r_ge0 a'_ge0 [q'_ge0 both]] := carve_parts a_ge0 q_ge0 w_ge0.
have -> : z + Num.min a w + Num.min q (w - Num.min a w) + (w - Num.min a w - Num.min q (w - Num.min a w)) = z + w.
  by arith.
case: (leP a w) v_ge0 v'_ge0 r_ge0 a'_ge0 q'_ge0 both => [aw | /ltW wa] v_ge0 v'_ge0 r_ge0 a'_ge0 q'_ge0 both.
  rewrite (min_eq_l ua) (min_eq_l (le_trans ua aw)) subrr (min_eq_l r_ge0) addr0 !subrr add0r.
  by rewrite !low_0 ?carve_lengths //; arith.
rewrite subrr (min_eq_r q_ge0) !subr0 addr0.
have left_ge0 : 0 <= u - Num.min u w by rewrite subr_ge0 min_left.
rewrite (min_eq_r left_ge0) addr0 subrr add0r subr0 IH ?subr_ge0 //.
rewrite min_left /=; case: (leP u w) => [uw | /ltW wu]; first by rewrite subrr subr_ge0.
by linear ua.
Qed.

Lemma low_above F x a q l z u : 0 <= a -> 0 <= q -> lengths l -> a <= u ->
  low F z (carve x a q l) u = low F z l (u + q) - (low F z l (a + q) - low F z l a).
Proof.
elim: l a q z u => [|[w [y|]] l IH] a q z u a_ge0 q_ge0 //=; first by move=> *; arith.
  by move=> /andP[w_ge0 l_ok] au; rewrite IH.
move=> /andP[w_ge0 l_ok] au; have u_ge0 := le_trans a_ge0 au.
have [v_ge0 v'_ge0 r_ge0 a'_ge0 [q'_ge0 both]] := carve_parts a_ge0 q_ge0 w_ge0.
have -> : z + Num.min a w + Num.min q (w - Num.min a w) + (w - Num.min a w - Num.min q (w - Num.min a w)) = z + w.
  by arith.
rewrite both; case: (leP a w) v_ge0 v'_ge0 r_ge0 a'_ge0 q'_ge0 both => [aw | /ltW wa];
  move=> v_ge0 v'_ge0 r_ge0 a'_ge0 q'_ge0 both.
  have ua_ge0 : 0 <= u - a by rewrite subr_ge0.
  rewrite (min_eq_r au) subrr; case: (leP q (w - a)) v'_ge0 r_ge0 q'_ge0 both => [qw | /ltW wq];
    move=> v'_ge0 r_ge0 q'_ge0 both.
    rewrite subrr IH ?lexx //; last by rewrite subr_ge0 min_left.
    have -> : Num.min (u + q) w = a + q + Num.min (u - a) (w - a - q).
      case: (leP (u - a) (w - a - q)) => [le | /ltW ge].
        by rewrite min_eq_l; [arith | linear le].
      by rewrite min_eq_r; [arith | linear ge].
    rewrite !addr0 !subrr !low_0 //.
    have -> : u + q - (a + q + Num.min (u - a) (w - a - q)) = u - a - Num.min (u - a) (w - a - q) by arith.
    by rewrite !addrA; arith.
  rewrite subrr (min_eq_r ua_ge0) addr0 subrr add0r subr0 IH // low_0 //.
  have -> : a + (w - a) = w by arith.
  rewrite (_ : Num.min (u + q) w = w); last by apply: min_eq_r; have h := le_plus au wq; linear h.
  have -> : u - a + (q - (w - a)) = u + q - w by arith.
  by rewrite add0r (_ : a + q - w = q - (w - a)); arith.
have wu := le_trans wa au; have uw_ge0 : 0 <= u - w by rewrite subr_ge0.
rewrite subrr (min_eq_r q_ge0) (min_eq_r wu) !subr0 (min_eq_r uw_ge0) !addr0 !subrr add0r subr0.
rewrite IH ?subr_ge0 //; last by linear au.
rewrite (_ : Num.min (u + q) w = w); last by apply: min_eq_r; have h := le_plus wu q_ge0; linear h.
have -> : u - w + q = u + q - w by arith.
by have -> : a - w + q = a + q - w by [arith]; arith.
Qed.

End Pieces.

Section Powers.
Variables (R : realFieldType) (V : finType) (n : nat).
Implicit Types (l : seq (R * option V)) (z a q u t : R).

(** With K = n + 1 candidates an interval [a, b] of ranks has the mass b^K - a^K. *)
Definition power t : R := t ^+ n.+1.
Let slope t : R := n.+1%:R * t ^+ n.
Notation low := (low power).

Let slope_le a b : 0 <= a -> a <= b -> slope a <= slope b.
Proof. by move=> a_ge0 ab; apply: le_scale; [exact: ler0n | exact: power_le]. Qed.

Let slope_ge0 a : 0 <= a -> 0 <= slope a.
Proof. by move=> a_ge0; rewrite mulr_ge0 ?ler0n ?exprn_ge0. Qed.

Lemma low_slope z l u : 0 <= z -> lengths l -> 0 <= u <= free l -> slope z * u <= low z l u.
Proof.
elim: l z u => [|[w [y|]] l IH] z u z_ge0 /=.
- by move=> _ /andP[u_ge0 u_le]; have -> : u = 0 by [exact: eq_of_le]; rewrite mulr0.
- move=> /andP[w_ge0 l_ok]; rewrite free_cons /= mul0r add0r => /andP[u_ge0 u_le].
  have zw : 0 <= z + w by rewrite addr_ge0.
  apply: le_trans (IH (z + w) u zw l_ok _); last by rewrite u_ge0.
  have h : slope z <= slope (z + w) by apply: slope_le => //; linear w_ge0.
  by have g := le_scale u_ge0 h; linear g.
move=> /andP[w_ge0 l_ok]; rewrite free_cons /= mul1r => /andP[u_ge0 u_le].
have [v_ge0 v_w v_u _] := min_parts u_ge0 w_ge0; have rest := rest_free l_ok u_ge0 w_ge0 u_le.
set v := Num.min u w in v_ge0 v_w v_u rest *.
have zw : 0 <= z + w by rewrite addr_ge0.
have below_zw : slope z <= slope (z + w) by apply: slope_le => //; linear w_ge0.
have later := IH (z + w) (u - v) zw l_ok rest.
have zv : z <= z + v by linear v_ge0.
have /andP[first _] := power_slope n z_ge0 zv; rewrite -/(power _) -/(power _) -/(slope _) in first.
have left_ge0 : 0 <= u - v by rewrite subr_ge0.
have g := le_scale left_ge0 below_zw.
have h := le_plus first (le_plus later g); rewrite /power in h *; linear h.
Qed.

(** At every place the mass of the lowest part has a slope that lies between those before and after. *)
Lemma low_convex z l a : 0 <= z -> lengths l -> 0 <= a <= free l -> exists k,
  [/\ slope z <= k, forall u, 0 <= u <= a -> low z l a - low z l u <= k * (a - u) &
      forall u, a <= u <= free l -> k * (u - a) <= low z l u - low z l a].
Proof.
elim: l z a => [|[w [y|]] l IH] z a z_ge0 /=.
- move=> _ /andP[a_ge0 a_le]; have -> : a = 0 by exact: eq_of_le.
  exists (slope z); split=> // u /andP[u_ge0 u_le]; have -> : u = 0 by [exact: eq_of_le];
    by rewrite !subrr mulr0.
- move=> /andP[w_ge0 l_ok]; rewrite free_cons /= mul0r add0r => a_in.
  have zw : 0 <= z + w by rewrite addr_ge0.
  have [k [k_ge before after]] := IH (z + w) a zw l_ok a_in; exists k; split=> //.
  by apply: le_trans k_ge; apply: slope_le => //; linear w_ge0.
move=> /andP[w_ge0 l_ok]; rewrite free_cons /= mul1r => /andP[a_ge0 a_le].
have zw : 0 <= z + w by rewrite addr_ge0.
have z_zw : slope z <= slope (z + w) by apply: slope_le => //; linear w_ge0.
case: (leP a w) => [aw | /ltW wa].
  have za : 0 <= z + a by rewrite addr_ge0.
  exists (slope (z + a)); split.
  - by apply: slope_le => //; linear a_ge0.
  - move=> u /andP[u_ge0 ua]; rewrite (min_eq_l (le_trans ua aw)) !subrr !low_0 // !addr0.
    have zu : 0 <= z + u by rewrite addr_ge0.
    have zua : z + u <= z + a by linear ua.
    have /andP[_ h] := power_slope n zu zua; rewrite -/(slope _) in h; rewrite /power; linear h.
  - move=> u /andP[au u_le]; have u_ge0 := le_trans a_ge0 au; rewrite subrr low_0 // addr0.
    have [v_ge0 v_w v_u _] := min_parts u_ge0 w_ge0; have rest := rest_free l_ok u_ge0 w_ge0 u_le.
    have av : a <= Num.min u w by exact: min_greatest.
    set v := Num.min u w in v_ge0 v_w v_u rest av *.
    have zav : z + a <= z + v by linear av.
    have /andP[h _] := power_slope n za zav; rewrite -/(slope _) in h.
    have later := low_slope zw l_ok rest.
    have zazw : slope (z + a) <= slope (z + w) by apply: slope_le => //; linear aw.
    have left_ge0 : 0 <= u - v by rewrite subr_ge0.
    have g := le_scale left_ge0 zazw.
    have s := le_plus h (le_plus later g); rewrite /power in s *; linear s.
have [|k [k_ge before after]] := IH (z + w) (a - w) zw l_ok.
  by rewrite subr_ge0 wa /=; linear a_le.
exists k; split; first exact: le_trans z_zw k_ge.
- move=> u /andP[u_ge0 ua]; case: (leP u w) => [uw | /ltW wu].
    rewrite subrr low_0 // addr0.
    have h : low (z + w) l (a - w) - low (z + w) l 0 <= k * (a - w - 0).
      by apply: before; rewrite lexx subr_ge0.
    have zu : 0 <= z + u by rewrite addr_ge0.
    have zuw : z + u <= z + w by linear uw.
    have /andP[_ g] := power_slope n zu zuw; rewrite -/(slope _) in g.
    have d_ge0 : 0 <= w - u by rewrite subr_ge0.
    have k_up := le_scale d_ge0 k_ge; rewrite low_0 // in h.
    have s := le_plus h (le_plus g k_up); rewrite /power in s *; linear s.
  have h : low (z + w) l (a - w) - low (z + w) l (u - w) <= k * (a - w - (u - w)).
    by apply: before; rewrite subr_ge0 wu /=; linear ua.
  by linear h.
- move=> u /andP[au u_le]; have wu := le_trans wa au; rewrite (min_eq_r wu).
  have h : k * (u - w - (a - w)) <= low (z + w) l (u - w) - low (z + w) l (a - w).
    by apply: after; apply/andP; split; [linear au | linear u_le].
  by linear h.
Qed.

(** Mean slopes: a window is no flatter than what lies below it, *)
Lemma below_window z l a q u :
    0 <= z -> lengths l -> 0 <= u <= a -> 0 <= q -> a + q <= free l ->
  q * low z l u <= u * (low z l (a + q) - low z l a).
Proof.
move=> z_ge0 l_ok /andP[u_ge0 ua] q_ge0 fits; have a_ge0 := le_trans u_ge0 ua.
have a_free : 0 <= a <= free l by rewrite a_ge0 /=; apply: le_trans fits; linear q_ge0.
have [k [k_ge before after]] := low_convex z_ge0 l_ok a_free.
have window : k * q <= low z l (a + q) - low z l a.
  by have := after (a + q); have -> : a + q - a = q by [arith]; apply; rewrite fits andbT; linear q_ge0.
have u_free : 0 <= u <= free l by rewrite u_ge0 /=; case/andP: a_free => _; apply: le_trans.
have [k' [_ before' after']] := low_convex z_ge0 l_ok u_free.
have start : low z l u <= k' * u by have := before' 0; rewrite lexx u_ge0 low_0 // !subr0; apply.
have flat : low z l u <= k * u.
  case: (eqVneq a u) => [au | a_neq].
    by have := before 0; rewrite lexx a_ge0 low_0 // !subr0 au; apply.
  have d_gt0 : 0 < a - u by rewrite subr_gt0 lt_neqAle eq_sym a_neq.
  have h1 : k' * (a - u) <= low z l a - low z l u.
    by apply: after'; rewrite ua /=; case/andP: a_free.
  have h2 : low z l a - low z l u <= k * (a - u) by apply: before; rewrite u_ge0.
  have kk : k' <= k.
    rewrite leNgt; apply/negP => lt; have g : 0 < k' - k by rewrite subr_gt0.
    have := mulr_gt0 g d_gt0; rewrite ltNge => /negP; apply.
    by have h := le_trans h1 h2; linear h.
  by apply: le_trans start _; have h := le_scale u_ge0 kk; linear h.
have h := le_plus (le_scale q_ge0 flat) (le_scale u_ge0 window); linear h.
Qed.

(** and the highest window is no flatter than the whole. *)
Lemma highest_window z l q :
    0 <= z -> lengths l -> 0 <= q <= free l ->
  q * low z l (free l) <= free l * (low z l (free l) - low z l (free l - q)).
Proof.
move=> z_ge0 l_ok /andP[q_ge0 q_le]; have a_ge0 : 0 <= free l - q by rewrite subr_ge0.
have h := below_window z_ge0 l_ok (u := free l - q) (a := free l - q) (q := q).
have {}h := h _ q_ge0; rewrite a_ge0 lexx in h; have {}h := h isT.
have e : free l - q + q = free l by arith.
by rewrite e lexx in h; have g := h isT; linear g.
Qed.

End Powers.
