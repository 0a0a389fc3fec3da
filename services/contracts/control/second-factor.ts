import * as m from '#messages/control-problems';
import { z } from 'zod';
import { Problem } from '../problem.ts';
import type { Identity } from './identity.ts';

/** List entry of a passkey. */
export const Passkey = z.object({
  id: z.string(),
  label: z.string(),
  createdAt: z.number().describe('ms since the epoch'),
  lastUsedAt: z.number().nullable(),
  host: z
    .string()
    .describe('Host name for which the passkey works, such as `localhost`, or `nas.local` with all names below it.'),
});
export type Passkey = z.infer<typeof Passkey>;

/** Second factors of the signed-in account. `recoveryLeft` counts unused recovery codes. */
export const SecondFactorStatus = z.object({
  on: z.boolean(),
  recoveryLeft: z.number(),
  passkeys: z.array(Passkey),
});
export type SecondFactorStatus = z.infer<typeof SecondFactorStatus>;

/** Response of a browser's authenticator; the WebAuthn library verifies its contents. */
export const PasskeyResponse = z.looseObject({
  id: z.string().max(2000),
  rawId: z.string().max(2000),
  type: z.literal('public-key'),
  response: z.record(z.string(), z.unknown()),
  clientExtensionResults: z.record(z.string(), z.unknown()),
});
export type PasskeyResponse = z.infer<typeof PasskeyResponse>;

/** Proof of the second step of a sign-in. `origin` is that of the page. */
export type SecondFactorProof =
  { readonly code: string } | { readonly passkey: PasskeyResponse; readonly origin: string };

/** Address and user agent of a sign-in. */
interface Client {
  readonly remoteAddress: string;
  readonly userAgent: string;
}

/**
 * Thrown when the password is correct and the account has a second factor: {@link SecondFactors.complete} accepts the
 * ticket for five minutes.
 */
export class SecondFactorNeeded extends Problem {
  readonly ticket: string;
  readonly account: string;

  constructor(account: string, ticket: string) {
    super('accounts.second_factor_needed', 401, m.codeNeeded());
    this.account = account;
    this.ticket = ticket;
  }
}

/** Second factors of all accounts: codes of an authenticator app, recovery codes and passkeys. */
export interface SecondFactors {
  isOn(account: string): boolean;
  status(account: string): Promise<SecondFactorStatus>;
  /**
   * Creates a secret, which becomes effective once a code of it is confirmed.
   * @throws Problem `accounts.second_factor_on` (409)
   */
  begin(account: string): Promise<{ readonly secret: string; readonly uri: string }>;
  /**
   * Enables the second factor. The recovery codes are returned only here.
   * @throws Problem `accounts.wrong_code` (422), `accounts.no_second_factor` (409)
   */
  confirm(account: string, code: string, remoteAddress: string): Promise<readonly string[]>;
  /**
   * Replaces all recovery codes, with a code from the app or a recovery code: the password alone must not be enough to
   * get codes that disable the second factor. The new ones are returned only here.
   * @throws Problem `accounts.no_second_factor` (409), `accounts.wrong_code` (422), `accounts.too_many_attempts` (429)
   */
  renewRecoveryCodes(account: string, code: string, remoteAddress: string): Promise<readonly string[]>;
  /**
   * Disables the second factor and removes the passkeys.
   * @throws Problem `accounts.wrong_code` (422)
   */
  disable(account: string, code: string, remoteAddress: string): Promise<void>;
  /** Disables the second factor without a code, for administrators, and ends the sessions of the account. */
  reset(account: string): Promise<void>;
  /**
   * Imports factors that an earlier version of a service stored itself. Existing factors of an account are preserved.
   */
  adopt(rows: readonly StoredSecondFactor[]): Promise<void>;

  /** @throws Problem `accounts.no_second_factor` (409), `accounts.passkey_host` (422) */
  beginPasskey(account: string, origin: string): Promise<Record<string, unknown>>;
  /** @throws Problem `accounts.bad_passkey` (422) */
  addPasskey(account: string, label: string, response: PasskeyResponse, origin: string): Promise<Passkey>;
  /** @throws Problem `accounts.unknown_passkey` (404) */
  removePasskey(account: string, id: string): Promise<void>;

  /**
   * Returns the options for a passkey of this page's host; undefined when the account has none for it.
   * @throws Problem as {@link complete}
   */
  passkeyOptions(ticket: string, origin: string): Promise<Record<string, unknown> | undefined>;
  /**
   * Opens the session that {@link SecondFactorNeeded} withheld.
   * @throws Problem `accounts.wrong_code` (401), `accounts.second_step_expired` (401), `accounts.too_many_attempts`
   * (429)
   */
  complete(
    ticket: string,
    proof: SecondFactorProof,
    client: Client,
  ): Promise<{ readonly identity: Identity; readonly secret: string }>;
}

/** Stored second factor, its secret sealed by the vault. */
export interface StoredSecondFactor {
  readonly account: string;
  readonly secret: string;
  readonly confirmed: number;
  /** JSON list of fingerprints. */
  readonly recovery: string;
  readonly last_step: number;
}
