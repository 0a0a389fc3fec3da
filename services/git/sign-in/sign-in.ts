import type { IncomingMessage } from 'node:http';
import type { Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { isGitToken, type Tokens } from './tokens.ts';
import { anonymousCaller, type Caller } from './caller.ts';

/** Authenticates requests by their headers and query. */
export class SignIn {
  readonly #context: Pick<Context, 'accounts' | 'caller'>;
  readonly #tokens: Tokens;

  constructor(context: Pick<Context, 'accounts' | 'caller'>, tokens: Tokens) {
    this.#context = context;
    this.#tokens = tokens;
  }

  /**
   * Authenticates a request. Tokens in the address are accepted if `query` is present.
   *
   * @throws Problem `accounts.bad_credentials` (401), `accounts.too_many_attempts` (429)
   */
  async authenticate(request: IncomingMessage, query?: URLSearchParams): Promise<Caller> {
    const { authorization } = request.headers;
    if (authorization !== undefined) return this.#authenticateHeader(request, authorization);
    const token = query?.get('token') ?? query?.get('access_token') ?? '';
    if (token === '') return anonymousCaller;
    return { ...(await this.#authenticateToken(request, token)), inAddress: true };
  }

  /**
   * Returns the identity of an account without the limits of a credential, for SSH keys. Returns undefined if the
   * account was deleted or disabled.
   */
  async account(name: string): Promise<Identity | undefined> {
    const account = await this.#context.accounts.find(name);
    if (account?.enabled !== true) return undefined;
    // The identity does not depend on a password that may change, only on the account itself.
    return { account: account.name, kind: account.kind, role: account.role, via: 'password' };
  }

  async #authenticateHeader(request: IncomingMessage, authorization: string): Promise<Caller> {
    const [, scheme = '', value = ''] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(authorization) ?? [];
    switch (scheme.toLowerCase()) {
      case 'token':
      case 'bearer':
        return this.#authenticateToken(request, value);
      case 'basic': {
        const text = Buffer.from(value, 'base64').toString('utf8');
        // A password may contain a colon, a name may not.
        const colon = text.indexOf(':');
        const name = colon < 0 ? text : text.slice(0, colon);
        const password = colon < 0 ? '' : text.slice(colon + 1);
        if (isGitToken(password)) return this.#authenticateToken(request, password, name);
        if (isToken(name) && (password === '' || password === 'x-oauth-basic'))
          return this.#authenticateToken(request, name);
        return this.#authenticateAccount(request, authorization);
      }
      default:
        return anonymousCaller;
    }
  }

  async #authenticateToken(request: IncomingMessage, text: string, name?: string): Promise<Caller> {
    if (!isGitToken(text)) return this.#authenticateAccount(request, `Bearer ${text}`);
    const token = await this.#tokens.find(text);
    const identity = token === undefined ? undefined : await this.account(token.account);
    const isOtherName = name !== undefined && name !== '' && name.toLowerCase() !== identity?.account.toLowerCase();
    if (token === undefined || identity === undefined || (isOtherName && !(await this.#isUnknownAccount(name)))) {
      throw new Problem('accounts.bad_credentials', 401, 'invalid username, password or token');
    }
    return { identity, scopes: JSON.parse(token.scopes) as string[], inAddress: false };
  }

  async #authenticateAccount(request: IncomingMessage, authorization: string): Promise<Caller> {
    const { accounts, caller } = this.#context;
    const identity = await accounts.authenticate({ authorization, ...caller(request) });
    return { ...anonymousCaller, identity };
  }

  /**
   * Returns true if no account has this name. Clients send arbitrary names with a token, such as `oauth2`; the name of
   * another account is an error.
   */
  async #isUnknownAccount(name: string): Promise<boolean> {
    return (await this.#context.accounts.find(name)) === undefined;
  }
}

function isToken(text: string): boolean {
  return isGitToken(text) || text.startsWith('tk_');
}
