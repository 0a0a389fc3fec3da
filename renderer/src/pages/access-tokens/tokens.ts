import { ownAccountApi } from '../../../../services/contracts/control/access.ts';
import type { AccessToken, Grant } from '../../../../services/contracts/control/accounts.ts';
import { controlApi } from '../../../../services/contracts/control/api.ts';
import { call } from '../../api/call.ts';

/** Request for a token. `scopes` limits it; without scopes it has all permissions of its account. */
interface NewToken {
  readonly label: string;
  /** Expiry in ms since the epoch; null never expires. */
  readonly expiresAt: number | null;
  readonly scopes?: Grant[];
}

/** Selected extent of a new token: one grant, or `all`; empty before a selection. */
export type TokenExtent = Grant | 'all' | '';

/** Reads and changes the tokens of one account. */
export interface TokenStore {
  list(): Promise<readonly AccessToken[]>;
  /** Creates a token; `text` is only returned here. */
  create(token: NewToken): Promise<{ readonly token: AccessToken; readonly text: string }>;
  /** Revokes a token; the request continues if the page is closed. */
  revoke(id: string): Promise<void>;
}

/** Creates a token store for any account; requires an administrator. */
export function createTokenStore(name: string): TokenStore {
  const params = { name };
  return {
    list: async () => (await call(controlApi.tokens, { params })).tokens,
    create: (body) => call(controlApi.createToken, { params, body }),
    async revoke(id) {
      await call(controlApi.removeToken, { params: { name, id }, keepalive: true });
    },
  };
}

/** Token store of the signed-in account. */
export const currentAccountTokens: TokenStore = {
  list: async () => (await call(ownAccountApi.read)).tokens,
  create: (body) => call(ownAccountApi.createToken, { body }),
  async revoke(id) {
    await call(ownAccountApi.removeToken, { params: { id }, keepalive: true });
  },
};
