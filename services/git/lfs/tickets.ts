import { z } from 'zod';
import type { Context } from '../../contracts/service.ts';
import type { SignIn } from '../sign-in/sign-in.ts';
import { anonymousCaller, type Caller } from '../sign-in/caller.ts';
import { parseJson } from '../../contracts/parse-json.ts';

const lifetimeMs = 3_600_000;
const purpose = 'git.lfs-ticket';
const ticketSchema = z.object({
  account: z.string().nullable(),
  deployKey: z.object({ repository: z.int(), readOnly: z.boolean(), title: z.string() }).nullable(),
  sshKey: z.int(),
  operation: z.enum(['upload', 'download']),
  expires: z.number(),
});

/** SSH keys that currently exist. */
interface SshKeys {
  exists(id: number): Promise<boolean>;
}

/**
 * Bearer tokens that SSH clients use for LFS over HTTP. A token is valid for an hour and one direction, and only while
 * its SSH key exists.
 */
export class LfsTickets {
  readonly #context: Pick<Context, 'clock' | 'vault'>;
  readonly #signIn: SignIn;
  readonly #keys: SshKeys;

  constructor(context: Pick<Context, 'clock' | 'vault'>, signIn: SignIn, keys: SshKeys) {
    this.#context = context;
    this.#signIn = signIn;
    this.#keys = keys;
  }

  issue(caller: Caller, operation: 'upload' | 'download'): { readonly text: string; readonly seconds: number } {
    const { clock, vault } = this.#context;
    const ticket: z.infer<typeof ticketSchema> = {
      account: caller.identity?.account ?? null,
      deployKey: caller.deployKey ?? null,
      sshKey: caller.sshKey ?? 0,
      operation,
      expires: clock.now() + lifetimeMs,
    };
    return { text: vault.seal(JSON.stringify(ticket), purpose), seconds: lifetimeMs / 1000 };
  }

  /** Returns the caller of a token, or undefined if it is invalid or expired. */
  async authenticate(authorization: string | undefined): Promise<Caller | undefined> {
    const text = /^Bearer (v\d+\.\S+)$/i.exec(authorization ?? '')?.[1];
    if (text === undefined) return undefined;
    const { account, deployKey, sshKey = 0, operation, expires } = this.#read(text) ?? {};
    if (expires === undefined || expires < this.#context.clock.now()) return undefined;
    if (!(await this.#keys.exists(sshKey))) return undefined;
    const scopes = [operation === 'upload' ? 'write:repository' : 'read:repository'];
    if (deployKey !== null && deployKey !== undefined) return { ...anonymousCaller, deployKey, scopes };
    const identity = await this.#signIn.account(account ?? '');
    return identity && { identity, scopes, inAddress: false };
  }

  #read(text: string): z.infer<typeof ticketSchema> | undefined {
    try {
      return ticketSchema.parse(parseJson(this.#context.vault.open(text, purpose)));
    } catch {
      return undefined; // Not one of ours.
    }
  }
}
