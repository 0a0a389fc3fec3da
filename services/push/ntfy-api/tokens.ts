import type { AccessToken, Accounts, Identity } from '../../contracts/control/accounts.ts';
import type { Clock } from '../../contracts/service.ts';
import { refuse } from '../domain/refusals.ts';
import { TokenOrder } from '../wire/account.ts';
import { answerSuccess, requireUser, type ApiRoutes } from './api-routes.ts';
import { answerValue, credentialsOf, type Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';
import { explained } from './users.ts';

/** How long a token lives that was asked for without an end, and by how much it is extended. */
const lifetime = 72 * 60 * 60 * 1000;

export interface TokenParts {
  readonly accounts: Accounts;
  readonly clock: Clock;
  /** Tells the account's other devices that it changed. */
  readonly changed: (account: string) => Promise<void>;
}

/** Signing in for a token, and the account's tokens. */
export function tokenRoutes({ accounts, clock, changed }: TokenParts): ApiRoutes {
  const inThreeDays = (): number => clock.now() + lifetime;

  /** `text` is a token, or what {@link listed} shows in its place; undefined: the one the request was made with. */
  const find = async (identity: Identity, text: string | undefined): Promise<AccessToken> => {
    const own = await accounts.tokens(identity.account);
    const id = text === undefined || text === '' ? identity.credentialId : idOf(text);
    const token =
      own.find((each) => each.id === id) ??
      (text === undefined ? undefined : await accounts.findToken(identity.account, text));
    if (token === undefined) throw refuse(text === undefined ? 'no_token' : 'unauthorized');
    return token;
  };

  const make = async (exchange: Exchange, identity: Identity, label: string, expiresAt: number | null) => {
    const { token, text } = await explained(() => accounts.createToken(identity.account, { label, expiresAt }));
    const seen = { lastUsedAt: clock.now(), lastUsedFrom: exchange.address };
    return { text, wire: wireToken({ ...token, ...seen }, text) };
  };

  return {
    async 'POST /v1/account/login'(exchange) {
      const identity = requireUser(exchange);
      const { text } = await make(exchange, identity, '', inThreeDays());
      answerValue(exchange.response, { token: text, username: identity.account });
    },

    async 'POST /v1/account/token'(exchange) {
      const identity = requireUser(exchange);
      const { label = '', expires } = await readJson(exchange, TokenOrder);
      const { wire } = await make(exchange, identity, label, endOf(expires, inThreeDays));
      answerValue(exchange.response, wire);
      await changed(identity.account);
    },

    async 'PATCH /v1/account/token'(exchange) {
      const identity = requireUser(exchange);
      const { token: text, label, expires } = await readJson(exchange, TokenOrder);
      const { id } = await find(identity, text);
      const prolong = label === undefined && expires === undefined;
      const token = await explained(() =>
        accounts.changeToken(identity.account, id, {
          ...(label === undefined ? {} : { label }),
          ...(expires === undefined && !prolong ? {} : { expiresAt: endOf(expires, inThreeDays) }),
        }),
      );
      answerValue(exchange.response, wireToken(token, text ?? ownText(exchange) ?? listed(token)));
      await changed(identity.account);
    },

    async 'DELETE /v1/account/token'(exchange) {
      const identity = requireUser(exchange);
      const given = exchange.request.headers['x-token'];
      const { id } = await find(identity, typeof given === 'string' ? given.trim() : undefined);
      await accounts.removeToken(identity.account, id);
      answerSuccess(exchange);
      await changed(identity.account);
    },
  };
}

/** The account's tokens as they are listed, the one of this request with its text. */
export async function wireTokens(accounts: Accounts, identity: Identity, exchange: Exchange): Promise<unknown[]> {
  const tokens = await accounts.tokens(identity.account);
  const own = ownText(exchange);
  return tokens.map((token) => wireToken(token, token.id === identity.credentialId && own ? own : listed(token)));
}

/**
 * What a token is listed as. Only its hash is kept, so the text cannot be shown again; clients use this in its place to
 * change or delete the token. It is as long as a token and never one, since tokens have no `*`.
 */
function listed({ id }: AccessToken): string {
  return `tk_${id}`.padEnd(32, '*');
}

function idOf(text: string): string {
  return text.includes('*') ? text.slice('tk_'.length).replace(/\*+$/, '') : '';
}

/** The token this request was made with. */
function ownText({ request, query, address, foreignSite }: Exchange): string | undefined {
  const { authorization = '' } = credentialsOf(request, query, { remoteAddress: address, isCrossSite: foreignSite });
  const value = authorization.slice(authorization.indexOf(' ') + 1).trim();
  const text = /^basic /i.test(authorization) ? Buffer.from(value, 'base64').toString('utf8').split(':')[1] : value;
  return text?.startsWith('tk_') === true ? text : undefined;
}

function endOf(expires: number | undefined, otherwise: () => number): number | null {
  if (expires === undefined) return otherwise();
  return expires === 0 ? null : expires * 1000;
}

function wireToken(
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
