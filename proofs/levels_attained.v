(** T16, the lower half: for every way of drawing a level some picks keep all that can be kept. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic distribution step chain optimal attained tree_output levels levels_bound.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Attained.
Variables (R : realFieldType) (V J Omega : finType) (model : seq V -> V -> R).
Hypothesis model_law : forall c, law (model c).
Variables (chance : Omega -> R) (child : Omega -> J -> option (J * V)) (st : state R V J).
Hypotheses (chance_law : law chance) (st_good : good st).
Implicit Types (H : {set J * V}) (u : J * V).

Let t u : R := aim model st u.1 u.2.

(** Of several children of one instance with the same token, the first. *)
Let first o u : option J := [pick i | child o i == Some u].
Let offered o : {set J * V} := [set u | [exists i, child o i == Some u]].

(** The picks that a flow from outcomes to pairs asks for. *)
Definition flow_picks (f : Omega -> J * V -> R) (o : Omega) (i : J) : R :=
  if child o i is Some u then (first o u == Some i)%:R * (f o u / chance o) else 0.

Lemma flow_picks_pair f o u :
    (forall u', u' \notin offered o -> f o u' = 0) ->
  \sum_(i | child o i == Some u) flow_picks f o i = f o u / chance o.
Proof.
move=> f_support; rewrite (eq_bigr (fun i => (first o u == Some i)%:R * (f o u / chance o))); last first.
  by move=> i /eqP c_i; rewrite /flow_picks c_i.
rewrite /first; case: pickP => [i c_i | none].
  rewrite (bigD1 i) //= eqxx mul1r big1 ?addr0 // => j /andP[_ ji].
  by case: eqP => [[ij] | _]; [rewrite ij eqxx in ji | rewrite mul0r].
rewrite big_pred0 // f_support ?mul0r //; rewrite inE; apply/existsP => -[i c_i].
by have := none i; rewrite c_i.
Qed.

Lemma flow_picks_all f o :
    (forall u, u \notin offered o -> f o u = 0) ->
  \sum_(i | child o i) flow_picks f o i = mass (f o) / chance o.
Proof.
move=> f_support; rewrite /mass mulr_suml -(eq_bigr _ (fun u _ => flow_picks_pair u f_support)).
rewrite (exchange_big_dep (fun i => child o i : bool)) /=; last by move=> u i _ /eqP ->.
apply: eq_bigr => i; case c_i: (child o i) => [u|] // _.
by rewrite (big_pred1 u) // => u'; apply/eqP/eqP => [[] | ->].
Qed.

Lemma no_child H f : some_child (Draw_level chance child f) H = 1 - all_inside chance offered (~: H).
Proof.
have [_ <-] := chance_law; rewrite /mass /all_inside [X in X - _](bigID (fun o => offered o \subset ~: H)) /=.
rewrite [X in X - _]addrC addrK; apply: eq_bigl => o /=.
apply/existsP/subsetPn => [[i] | [u]].
  case c_i: (child o i) => [u|] // uH; exists u; rewrite !inE ?uH //.
  by apply/existsP; exists i; rewrite c_i.
by rewrite !inE negbK => /existsP[i /eqP c_i] uH; exists i; rewrite c_i.
Qed.

(** T16. However the children are drawn, some picks keep the least t(outside H) + Pr(some child in H),
    and none keep more. *)
Theorem level_attained : exists picks H, let l := Draw_level chance child picks in
  [/\ proper_level l,
      \sum_o chance o * (\sum_i next_share model l st o i) = \sum_(u | u \notin H) t u + some_child l H &
      forall H', \sum_(u | u \notin H) t u + some_child l H <= \sum_(u | u \notin H') t u + some_child l H'].
Proof.
have [chance_ge0 chance_mass] := chance_law.
have t_ge0 : nonneg t by move=> u; exact: aim_ge0.
pose value H := \sum_(u in H) t u + 1 - all_inside chance offered H.
have [d [_ d_least d_is]] := least xpredT value (value set0).
have [H0 d_H] : exists H0, d = value H0 by case: d_is => [-> | [H0 _ ->]]; [exists set0 | exists H0].
have [|f [f_ge0 f_support f_P f_t f_all]] := transport (D := 1 - d) (N := offered) chance_ge0 t_ge0.
  by move=> H; have h := d_least H isT; rewrite /value in h; linear h.
pose picks := flow_picks f; pose l := Draw_level chance child picks; exists picks, (~: H0).
have value_of H : \sum_(u | u \notin ~: H) t u + some_child l (~: H) = value H.
  rewrite no_child setCK (eq_bigl (mem H)) => [|u]; last by rewrite inE negbK.
  by rewrite /value; arith.
have inv_ge0 o : 0 <= (chance o)^-1 by rewrite invr_ge0.
have l_proper : proper_level l.
  split=> //= o => [i|].
    by rewrite /picks /flow_picks; case: (child o i) => // u; rewrite mulr_ge0 ?ler0n ?divr_ge0.
  rewrite flow_picks_all => [|u]; last exact: f_support.
  case: (eqVneq (chance o) 0) => [-> | nz]; first by rewrite invr0 mulr0 ler01.
  by have h := le_scale (inv_ge0 o) (f_P o); rewrite mulVf // mulrC in h.
have sigma_is u : sigma l u.1 u.2 = \sum_o f o u.
  apply: eq_bigr => o _; rewrite /= -surjective_pairing flow_picks_pair => [|u']; last exact: f_support.
  case: (eqVneq (chance o) 0) => [zero | nz]; last by rewrite mulrC mulfVK.
  rewrite zero mul0r (mass_zero (f := f o)) //; apply: eq_of_le; last exact: nonneg_mass.
  by rewrite -zero.
have kept : \sum_u minimum (aim model st u.1) (sigma l u.1) u.2 = \sum_o mass (f o).
  rewrite /mass exchange_big; apply: eq_bigr => u _ /=.
  by rewrite /minimum sigma_is min_eq_r //; exact: f_t.
have rate : \sum_o chance o * (\sum_i next_share model l st o i) = value H0.
  rewrite (shares_mean model_law l_proper st_good) kept -d_H; apply: eq_of_le.
    by rewrite d_H -value_of -kept; exact: level_bound.
  by rewrite chance_mass in f_all; linear f_all.
split=> //; first by rewrite value_of.
by move=> H'; rewrite value_of -[H']setCK value_of -d_H; exact: d_least.
Qed.

End Attained.
