import type { AccessToken, Accounts, Identity } from '../../contracts/control/accounts.ts';
import type { Clock } from '../../contracts/service.ts';
import { refuse } from '../domain/refusals.ts';
import { TokenRequest } from '../wire/account.ts';
import { answerSuccess, requireUser, type ApiRoutes } from './api-routes.ts';
import { answerValue, getCredentials, type Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';
import { withNtfyRefusal } from './users.ts';

/** Lifetime of a token requested without an expiry, and of its extension. */
const lifetimeMs = 72 * 60 * 60 * 1000;

export interface TokenDependencies {
  readonly accounts: Accounts;
  readonly clock: Clock;
  /** Notifies other devices of the account about a change. */
  readonly notifyDevices: (account: string) => Promise<void>;
}

/** Routes for signing in with a token and for the account's tokens. */
export function tokenRoutes({ accounts, clock, notifyDevices }: TokenDependencies): ApiRoutes {
  const defaultExpiry = (): number => clock.now() + lifetimeMs;

  /**
   * Finds a token by its text or its placeholder (see {@link toPlaceholder}); without `text`, the token of the request.
   */
  const find = async (identity: Identity, text: string | undefined): Promise<AccessToken> => {
    const tokens = await accounts.tokens(identity.account);
    const id = text === undefined || text === '' ? identity.credentialId : parsePlaceholder(text);
    const token =
      tokens.find((each) => each.id === id) ??
      (text === undefined ? undefined : await accounts.findToken(identity.account, text));
    if (token === undefined) throw refuse(text === undefined ? 'no_token' : 'unauthorized');
    return token;
  };

  const createToken = async (exchange: Exchange, identity: Identity, label: string, expiresAt: number | null) => {
    const { token, text } = await withNtfyRefusal(() => accounts.createToken(identity.account, { label, expiresAt }));
    const lastUse = { lastUsedAt: clock.now(), lastUsedFrom: exchange.address };
    return { text, wire: toTokenJson({ ...token, ...lastUse }, text) };
  };

  return {
    async 'POST /v1/account/login'(exchange) {
      const identity = requireUser(exchange);
      const { text } = await createToken(exchange, identity, '', defaultExpiry());
      answerValue(exchange.response, { token: text, username: identity.account });
    },

    async 'POST /v1/account/token'(exchange) {
      const identity = requireUser(exchange);
      const { label = '', expires } = await readJson(exchange, TokenRequest);
      const { wire } = await createToken(exchange, identity, label, toExpiry(expires, defaultExpiry));
      answerValue(exchange.response, wire);
      await notifyDevices(identity.account);
    },

    async 'PATCH /v1/account/token'(exchange) {
      const identity = requireUser(exchange);
      const { token: text, label, expires } = await readJson(exchange, TokenRequest);
      const { id } = await find(identity, text);
      const isExtension = label === undefined && expires === undefined;
      const token = await withNtfyRefusal(() =>
        accounts.changeToken(identity.account, id, {
          ...(label === undefined ? {} : { label }),
          ...(expires === undefined && !isExtension ? {} : { expiresAt: toExpiry(expires, defaultExpiry) }),
        }),
      );
      answerValue(exchange.response, toTokenJson(token, text ?? findRequestToken(exchange) ?? toPlaceholder(token)));
      await notifyDevices(identity.account);
    },

    async 'DELETE /v1/account/token'(exchange) {
      const identity = requireUser(exchange);
      const header = exchange.request.headers['x-token'];
      const { id } = await find(identity, typeof header === 'string' ? header.trim() : undefined);
      await accounts.removeToken(identity.account, id);
      answerSuccess(exchange);
      await notifyDevices(identity.account);
    },
  };
}

/** Returns the account's tokens as listed, with the text of the request's token. */
export async function listTokens(accounts: Accounts, identity: Identity, exchange: Exchange): Promise<unknown[]> {
  const tokens = await accounts.tokens(identity.account);
  const requestToken = findRequestToken(exchange);
  return tokens.map((token) =>
    toTokenJson(token, token.id === identity.credentialId && requestToken ? requestToken : toPlaceholder(token)),
  );
}

/**
 * Returns the placeholder of a token. Only hashes are stored, so the text cannot be shown again; clients use the
 * placeholder to change or delete the token. It has the length of a token and contains `*`, which tokens do not.
 */
function toPlaceholder({ id }: AccessToken): string {
  return `tk_${id}`.padEnd(32, '*');
}

function parsePlaceholder(text: string): string {
  return text.includes('*') ? text.slice('tk_'.length).replace(/\*+$/, '') : '';
}

/** Returns the token of the request. */
function findRequestToken({ request, query, address, foreignSite }: Exchange): string | undefined {
  const { authorization = '' } = getCredentials(request, query, { remoteAddress: address, isCrossSite: foreignSite });
  const value = authorization.slice(authorization.indexOf(' ') + 1).trim();
  const text = /^basic /i.test(authorization) ? Buffer.from(value, 'base64').toString('utf8').split(':')[1] : value;
  return text?.startsWith('tk_') === true ? text : undefined;
}

function toExpiry(expires: number | undefined, getDefault: () => number): number | null {
  if (expires === undefined) return getDefault();
  return expires === 0 ? null : expires * 1000;
}

function toTokenJson(
  { label, lastUsedAt, lastUsedFrom, createdAt, expiresAt, provisioned }: AccessToken,
  token: string,
): unknown {
  return {
    token,
    ...(label === '' ? {} : { label }),
    last_access: Math.floor((lastUsedAt ?? createdAt) / 1000),
    last_origin: lastUsedFrom ?? '',
    ...(expiresAt === null ? {} : { expires: Math.floor(expiresAt / 1000) }),
    ...(provisioned === true ? { provisioned } : {}),
  };
}
