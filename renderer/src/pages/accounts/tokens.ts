import { ownAccountApi } from '../../../../services/contracts/control/access.ts';
import type { AccessToken, Grant } from '../../../../services/contracts/control/accounts.ts';
import { controlApi } from '../../../../services/contracts/control/api.ts';
import { call } from '../../api/call.ts';

/** `scopes`: what it may do at most; without, all that its account may. */
interface NewToken {
  readonly label: string;
  /** ms since the epoch; null: never. */
  readonly expiresAt: number | null;
  readonly scopes?: Grant[];
}

/** What a new token may do: one kind of thing, or `all` that its account may; empty: not chosen yet. */
export type TokenExtent = Grant | 'all' | '';

/** The access tokens of one account. */
export interface TokenStore {
  list(): Promise<readonly AccessToken[]>;
  /** `text` is in this answer only. */
  create(token: NewToken): Promise<{ readonly token: AccessToken; readonly text: string }>;
  /** Carried out even when the page goes meanwhile. */
  revoke(id: string): Promise<void>;
}

/** The tokens of any account, for administrators. */
export function tokensOf(name: string): TokenStore {
  const params = { name };
  return {
    list: async () => (await call(controlApi.tokens, { params })).tokens,
    create: (body) => call(controlApi.createToken, { params, body }),
    async revoke(id) {
      await call(controlApi.removeToken, { params: { name, id }, keepalive: true });
    },
  };
}

/** One's own tokens. */
export const ownTokens: TokenStore = {
  list: async () => (await call(ownAccountApi.read)).tokens,
  create: (body) => call(ownAccountApi.createToken, { body }),
  async revoke(id) {
    await call(ownAccountApi.removeToken, { params: { id }, keepalive: true });
  },
};
