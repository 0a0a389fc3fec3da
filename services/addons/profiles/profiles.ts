import { randomUUID } from 'node:crypto';
import { loadOrCreateKey } from '../../kit/stored-key.ts';
import { Problem } from '../../contracts/problem.ts';
import type { AccountDisposition } from '../../contracts/control/account-data.ts';
import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { LruMap } from '../domain/lru-map.ts';
import { mergeParent } from '../domain/merge-parent.ts';
import { parseConfig } from '../domain/read-config.ts';
import { ProfileStore, type ProfileRow } from '../store/profiles.ts';
import { keyOfPassword, keyOfSecret, openText, sealText } from './sealing.ts';

/** A configuration as it was saved, whatever became of the one it inherits from. */
export interface OwnProfile {
  readonly uuid: string;
  readonly encryptedPassword: string;
  readonly own: AddonConfig;
}

/** A configuration that was opened. */
export interface Profile extends OwnProfile {
  /** With what it inherits. */
  readonly config: AddonConfig;
  /** Changes with each saving, its own or that of what it inherits from. */
  readonly revision: string;
  /** A page of another site made it, or what it inherits from. */
  readonly foreign: boolean;
  /** Its addons may only be on public addresses. */
  readonly publicOnly: boolean;
}

/** Who creates or saves a configuration, which decides how far its addons may reach. */
export interface Author {
  /** A page of another site, or a visitor that nobody knows. */
  readonly foreign?: boolean;
  /** An account that is no administrator. */
  readonly publicOnly?: boolean;
}

interface Opened {
  readonly config: AddonConfig;
  readonly updatedAt: number;
  readonly foreign: boolean;
  readonly publicOnly: boolean;
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const shortestPassword = 6;
const keptKeys = 200;
const segmentVersion = 1;

/**
 * Configurations with credentials in them. One is sealed under a key that only its password makes; the password stands in
 * the install address, sealed under the server's key. So neither the table nor an address tells anything by itself.
 */
export class Profiles {
  readonly #context: Context;
  readonly #store: ProfileStore;
  readonly #secretSetting: string;
  readonly #keys = new LruMap<string, Promise<Uint8Array>>(keptKeys);
  readonly #opened = new LruMap<string, Opened>(keptKeys);
  #serverKey: Uint8Array = new Uint8Array(32);

  constructor(context: Context, secretSetting: string) {
    this.#context = context;
    this.#store = new ProfileStore(context.db);
    this.#secretSetting = secretSetting;
  }

  /** Reads the server's key, or makes one at the first start. */
  async start(): Promise<void> {
    const { random } = this.#context;
    const place = { table: 'secrets', name: 'server-key', purpose: 'addons.server-key' };
    const make = (): string => Buffer.from(random.bytes(32)).toString('hex');
    this.#serverKey = keyOfSecret(this.#secretSetting || (await loadOrCreateKey(this.#context, place, make)));
  }

  count(): Promise<number> {
    return this.#store.count();
  }

  /** Text that only this server can read again, for addresses. */
  seal(text: string, purpose: string): string {
    return sealText(text, this.#serverKey, this.#context.random, purpose).toString('base64url');
  }

  /** What {@link seal} sealed; undefined when it was not. */
  unseal(sealed: string, purpose: string): string | undefined {
    if (!/^[\w-]+$/.test(sealed)) return undefined;
    return openText(Buffer.from(sealed, 'base64url'), this.#serverKey, purpose);
  }

  /** @throws Problem `addons.parent_gone` (400) before anything is written */
  async create(
    config: AddonConfig,
    password: string,
    { keep = false, owner, ...author }: Author & { readonly keep?: boolean; readonly owner?: string } = {},
  ): Promise<OwnProfile> {
    checkPassword(password);
    await this.#parentOf(config, undefined);
    const { clock, commit, random, vault } = this.#context;
    const uuid = randomUUID();
    const salt = Buffer.from(random.bytes(16)).toString('base64url');
    const now = clock.now();
    const row: ProfileRow = {
      uuid,
      salt,
      config: await this.#sealConfig({ ...config, uuid }, uuid, password, salt),
      kept_password: keep ? vault.seal(password, `addons.profile:${uuid}`) : null,
      made_elsewhere: markOf(author),
      owner: owner ?? null,
      created_at: now,
      updated_at: now,
    };
    await commit((transaction) => this.#store.insert(transaction, row));
    return this.own(uuid, password);
  }

  /** Without what it inherits, so that it can be shown and mended after that is gone. @throws Problem `addons.wrong_details` (400) */
  async own(uuid: string, password: string): Promise<OwnProfile> {
    const { config: own } = await this.#read(uuid, password);
    return { uuid, encryptedPassword: this.seal(password, `password:${uuid}`), own };
  }

  /** @throws Problem `addons.wrong_details` (400); `addons.parent_gone` (400) */
  async open(uuid: string, password: string, encryptedPassword?: string): Promise<Profile> {
    const { config: own, updatedAt, foreign, publicOnly } = await this.#read(uuid, password);
    const encrypted = encryptedPassword ?? this.seal(password, `password:${uuid}`);
    const base = { uuid, encryptedPassword: encrypted, own, foreign, publicOnly };
    const inherited = await this.#parentOf(own, uuid);
    if (inherited === undefined) return { ...base, config: own, revision: String(updatedAt) };
    const revision = `${String(updatedAt)}.${String(inherited.updatedAt)}`;
    return {
      ...{ ...base, config: mergeParent(inherited.config, own), revision },
      foreign: foreign || inherited.foreign,
      publicOnly: publicOnly || inherited.publicOnly,
    };
  }

  /** Out of an install address. @throws Problem as {@link open}; `addons.unreadable_password` (400) when the server never sealed it. */
  async openSealed(uuid: string, encryptedPassword: string): Promise<Profile> {
    const row = uuidPattern.test(uuid) ? await this.#store.find(uuid) : undefined;
    if (row === undefined) throw new Problem('addons.unknown_user', 400, 'User not found');
    const password = this.unseal(encryptedPassword, `password:${uuid}`);
    if (password === undefined) throw new Problem('addons.unreadable_password', 400, 'Invalid password');
    return this.open(uuid, password, encryptedPassword);
  }

  /** @throws Problem `addons.parent_gone` (400) before anything is written */
  async save(uuid: string, password: string, config: AddonConfig, author: Author = {}): Promise<OwnProfile> {
    await this.#parentOf(config, uuid);
    const { salt, updated_at } = await this.#row(uuid);
    const sealed = await this.#sealConfig({ ...config, uuid }, uuid, password, salt);
    // Two savings within one millisecond are two revisions.
    const now = Math.max(this.#context.clock.now(), updated_at + 1);
    await this.#change(uuid, { config: sealed, updated_at: now, made_elsewhere: markOf(author) });
    return this.own(uuid, password);
  }

  /** Addresses with the old password stop working. */
  async changePassword(uuid: string, password: string, next: string): Promise<OwnProfile> {
    checkPassword(next);
    const { config } = await this.#read(uuid, password);
    const row = await this.#row(uuid);
    const salt = Buffer.from(this.#context.random.bytes(16)).toString('base64url');
    await this.#change(uuid, {
      salt,
      config: await this.#sealConfig(config, uuid, next, salt),
      kept_password: row.kept_password === null ? null : this.#context.vault.seal(next, `addons.profile:${uuid}`),
      updated_at: Math.max(this.#context.clock.now(), row.updated_at + 1),
    });
    return this.own(uuid, next);
  }

  async remove(uuid: string): Promise<void> {
    await this.#context.commit((transaction) => this.#store.remove(transaction, uuid));
    this.#opened.deleteWhere((key) => key.startsWith(uuid));
  }

  /** When it was made, ms since the epoch. */
  async createdAt(uuid: string): Promise<number> {
    return (await this.#row(uuid)).created_at;
  }

  async exists(uuid: string): Promise<boolean> {
    return uuidPattern.test(uuid) && (await this.#store.find(uuid)) !== undefined;
  }

  /** Those the page looks after, but those whose password the vault cannot open any more, as after a move without its key. */
  async kept(): Promise<
    readonly {
      readonly uuid: string;
      readonly password: string;
      readonly updatedAt: number;
      readonly owner: string | null;
    }[]
  > {
    const rows = await this.#store.kept();
    return rows.flatMap(({ uuid, kept_password, updated_at, owner }) => {
      try {
        const password = this.#context.vault.open(kept_password ?? '', `addons.profile:${uuid}`);
        return [{ uuid, password, updatedAt: updated_at, owner }];
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        this.#context.log.warn('a configuration is left out: its password cannot be read', { uuid, error });
        return [];
      }
    });
  }

  /** The account that created it on the page; undefined for those of other tools. */
  async ownerOf(uuid: string): Promise<string | undefined> {
    return (await this.#row(uuid)).owner ?? undefined;
  }

  /** Number of configurations of an account. */
  countOf(account: string): Promise<number> {
    return this.#store.countOf(account);
  }

  /** Deletes or moves the configurations of a removed account; a later account of its name gets none of them. */
  async release(account: string, disposition: AccountDisposition): Promise<void> {
    await this.#context.commit(async (transaction) => {
      if (disposition.action === 'delete') await this.#store.removeOf(transaction, account);
      else {
        const next = disposition.action === 'transfer' ? disposition.to : disposition.as;
        await this.#store.changeOwner(transaction, account, next);
      }
    });
  }

  /** Its password, where the page looks after it. @throws Problem `addons.unknown_profile` (404) */
  async keptPassword(uuid: string): Promise<string> {
    const row = uuidPattern.test(uuid) ? await this.#store.find(uuid) : undefined;
    if (row?.kept_password === null || row === undefined)
      throw new Problem('addons.unknown_profile', 404, 'This configuration is not there any more.');
    return this.#context.vault.open(row.kept_password, `addons.profile:${uuid}`);
  }

  /** The one path segment that stands for a user and is the credential at once. */
  segment({ uuid, encryptedPassword }: Pick<Profile, 'uuid' | 'encryptedPassword'>): string {
    const head = Buffer.from([segmentVersion, ...Buffer.from(uuid.replaceAll('-', ''), 'hex')]);
    return Buffer.concat([head, Buffer.from(encryptedPassword, 'base64url')]).toString('base64url');
  }

  /** @see segment. Undefined when it is none. */
  readSegment(segment: string): { readonly uuid: string; readonly encryptedPassword: string } | undefined {
    if (!/^A[\w-]{50,600}$/.test(segment)) return undefined;
    const bytes = Buffer.from(segment, 'base64url');
    if (bytes[0] !== segmentVersion) return undefined;
    const uuid = bytes
      .subarray(1, 17)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    return { uuid, encryptedPassword: bytes.subarray(17).toString('base64url') };
  }

  /** @throws Problem `addons.parent_gone` (400) */
  async #parentOf({ parentConfig: parent }: AddonConfig, uuid: string | undefined): Promise<Opened | undefined> {
    if (parent === null || parent === undefined || parent.uuid === uuid) return undefined;
    return this.#read(parent.uuid, parent.password).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      throw new Problem(
        'addons.parent_gone',
        400,
        'The configuration that this one inherits from is gone, or its password is another one now.',
      );
    });
  }

  async #read(uuid: string, password: string): Promise<Opened> {
    const row = uuidPattern.test(uuid) ? await this.#store.find(uuid) : undefined;
    if (row === undefined) throw wrongDetails();
    const id = `${uuid} ${this.#context.vault.fingerprint(password, 'addons.password')}`;
    const known = this.#opened.get(id);
    if (known !== undefined && known.updatedAt === row.updated_at) return known;
    const key = await this.#key(uuid, password, row.salt);
    const text = openText(Buffer.from(row.config, 'base64url'), key, `config:${uuid}`);
    if (text === undefined) throw wrongDetails();
    const opened = {
      config: parseConfig(text),
      updatedAt: row.updated_at,
      foreign: Number(row.made_elsewhere) === 1,
      publicOnly: Number(row.made_elsewhere) !== 0,
    };
    this.#opened.set(id, opened);
    return opened;
  }

  async #row(uuid: string): Promise<ProfileRow> {
    const row = await this.#store.find(uuid);
    if (row === undefined) throw wrongDetails();
    return row;
  }

  async #change(uuid: string, change: Partial<ProfileRow>): Promise<void> {
    if (!(await this.#context.commit((transaction) => this.#store.update(transaction, uuid, change))))
      throw wrongDetails();
  }

  async #sealConfig(config: AddonConfig, uuid: string, password: string, salt: string): Promise<string> {
    const key = await this.#key(uuid, password, salt);
    return sealText(JSON.stringify(config), key, this.#context.random, `config:${uuid}`).toString('base64url');
  }

  #key(uuid: string, password: string, salt: string): Promise<Uint8Array> {
    const id = `${uuid} ${salt} ${this.#context.vault.fingerprint(password, 'addons.password')}`;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const made = keyOfPassword(password, Buffer.from(salt, 'base64url'));
    this.#keys.set(id, made);
    return made;
  }
}

function markOf({ foreign = false, publicOnly = false }: Author): number {
  return foreign ? 1 : publicOnly ? 2 : 0;
}

function checkPassword(password: string): void {
  if (password.length < shortestPassword)
    throw new Problem('addons.password_too_short', 400, 'New password is too short');
}

function wrongDetails(): Problem {
  return new Problem('addons.wrong_details', 400, 'Invalid UUID or password');
}
