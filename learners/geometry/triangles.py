"""proto"""
from __future__ import annotations
import math
import numpy as np
from learners.geometry.pieces import Pieces

class Sampler:
    def __init__(self, pieces, weights, score, rate, components=3):
        self.pieces, self.score, self.rate = pieces, score, rate
        self.w = weights
        t = components
        roots = [[0]*(t-j)+[1]*j for j in range(t+1)]
        self.codes = np.array(roots); self.mult = np.array([math.comb(t,j) for j in range(t+1)])
        self.up, self.low, self.logv = self.evaluate(self.codes, self.mult)
        self.expansions = 0
    def masks(self, codes):
        sure = self.pieces.inside(codes[:,0]); out = self.pieces.outside(codes[:,0])
        for j in range(1, codes.shape[1]):
            sure = sure & self.pieces.inside(codes[:,j]); out = out | self.pieces.outside(codes[:,j])
        return sure, ~out
    def evaluate(self, codes, mult):
        sure, poss = self.masks(codes)
        s = sure.astype(float) @ self.w; p = poss.astype(float) @ self.w
        up = self.score(p[:,0], s[:,1]); low = self.score(s[:,0], p[:,1])
        return up, low, np.log(mult) + self.pieces.log_areas(codes).sum(axis=1)
    def refine(self, ratio, cap):
        while True:
            base = self.logv + self.rate*self.up
            top = base.max()
            U = np.exp(base-top); L = np.exp(self.logv+self.rate*self.low - top)
            gap = U - L
            if U.sum() <= ratio*L.sum() or len(U) >= cap: return U.sum()/max(L.sum(),1e-300)
            order = np.argsort(-gap)
            c = np.cumsum(gap[order])
            k = int(np.searchsorted(c, 0.5*c[-1]))+1
            self.expand(order[:min(k,512)])
    def expand(self, idx):
        codes = self.codes[idx]; mult = self.mult[idx]
        sure, poss = self.masks(codes)
        rel = (poss & ~sure) * self.w.sum(axis=1)
        t = codes.shape[1]
        unc = np.stack([(rel * ~(self.pieces.inside(codes[:,j]) | self.pieces.outside(codes[:,j]))).sum(axis=1) for j in range(t)],1)
        pick = unc.argmax(axis=1)
        newc, newm = [], []
        for row, m, j, r in zip(codes.tolist(), mult.tolist(), pick.tolist(), rel):
            c = row[j]; z = c & 1
            lo, hi = self.pieces.halves(c>>1, r)
            lo, hi = 2*lo+z, 2*hi+z
            rest = [v for v in row if v != c]; n = t-len(rest)
            for i in range(n+1):
                newc.append(sorted(rest+[lo]*i+[hi]*(n-i))); newm.append(m*math.comb(n,i))
        self.expansions += len(idx)
        newc = np.array(newc); newm = np.array(newm)
        u,l,v = self.evaluate(newc,newm)
        keep = np.ones(len(self.up), bool); keep[idx]=False
        self.codes = np.concatenate([self.codes[keep], newc]); self.mult = np.concatenate([self.mult[keep], newm])
        self.up = np.concatenate([self.up[keep],u]); self.low=np.concatenate([self.low[keep],l]); self.logv=np.concatenate([self.logv[keep],v])
