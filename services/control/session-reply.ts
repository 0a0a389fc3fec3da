import type { Accounts, Identity, Role } from '../contracts/control/accounts.ts';
import { SecondFactorNeeded } from '../contracts/control/second-factor.ts';

/** Signed-in account as its pages receive it. */
export interface DescribedIdentity {
  readonly name: string;
  readonly role: Role;
  readonly needsEnrollment?: true;
  readonly language?: string;
}

/** Session of a completed sign-in, or the ticket of its second step. */
export type SignedInReply = (DescribedIdentity & { readonly session: string }) | { readonly ticket: string };

/** Request of a page that signs in. */
interface SignInRequest {
  readonly identity: Identity | undefined;
  readonly remoteAddress: string;
  readonly userAgent: string;
}

/** Signs in for the routes of the app's pages. */
export class SessionReplies {
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  readonly describeIdentity = async ({
    account: name,
    role,
    needsEnrollment,
  }: Identity): Promise<DescribedIdentity> => {
    const language = (await this.#accounts.find(name))?.language;
    return {
      name,
      role,
      ...(needsEnrollment === true ? { needsEnrollment } : {}),
      ...(language === undefined ? {} : { language }),
    };
  };

  /** Ends the session with which a new sign-in was requested: the new one replaces it. */
  readonly endFormer = async (former: Identity | undefined): Promise<void> => {
    if (former?.via === 'session') await this.#accounts.signOut(former);
  };

  /** Signs in with a password, or returns the ticket for the second step. */
  readonly signIn = async (
    { name, password }: { readonly name: string; readonly password: string },
    { identity: former, remoteAddress, userAgent }: SignInRequest,
  ): Promise<SignedInReply> => {
    try {
      const client = { remoteAddress, userAgent, forEnrollment: true };
      const { identity, secret } = await this.#accounts.signIn(name, password, client);
      await this.endFormer(former);
      return { ...(await this.describeIdentity(identity)), session: secret };
    } catch (error) {
      if (error instanceof SecondFactorNeeded) return { ticket: error.ticket };
      throw error;
    }
  };
}
