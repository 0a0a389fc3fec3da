import * as m from '#messages/addons-problems';
import { randomUUID } from 'node:crypto';
import { loadOrCreateKey } from '../../kit/stored-key.ts';
import { Problem } from '../../contracts/problem.ts';
import type { AccountDisposition } from '../../contracts/control/account-data.ts';
import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { LruMap } from '../../kit/lru-map.ts';
import { mergeParentConfig } from '../domain/merge-parent.ts';
import { parseConfig } from '../domain/read-config.ts';
import { ProfileStore, type ProfileRow } from '../store/profiles.ts';
import { deriveKeyFromPassword, deriveKeyFromSecret, unsealText, sealText } from './sealing.ts';

/** Stored configuration without inherited values. */
export interface StoredProfile {
  readonly uuid: string;
  readonly encryptedPassword: string;
  readonly ownConfig: AddonConfig;
}

/** Opened configuration. */
export interface Profile extends StoredProfile {
  /** Configuration including inherited values. */
  readonly config: AddonConfig;
  /** Changes whenever the configuration or its parent is saved. */
  readonly revision: string;
  /** The configuration or its parent was created by a page of another site. */
  readonly foreign: boolean;
  /** Limits the addons to public addresses. */
  readonly publicOnly: boolean;
}

/** Origin of a change, which decides which addresses the addons may have. */
export interface ConfigurationOrigin {
  /** A page of another site, or a visitor without an account. */
  readonly foreign?: boolean;
  /** An account that is not an administrator. */
  readonly publicOnly?: boolean;
}

interface OpenedConfig {
  readonly config: AddonConfig;
  readonly updatedAt: number;
  readonly foreign: boolean;
  readonly publicOnly: boolean;
}

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const minPasswordLength = 6;
const maxCachedKeys = 200;

/**
 * Stores configurations including their credentials. Each configuration is encrypted with a key derived from its
 * password. The install address contains the password, sealed with the server key. Neither the table nor an address
 * reveals anything alone.
 */
export class Profiles {
  readonly #context: Context;
  readonly #store: ProfileStore;
  readonly #secretSetting: string;
  readonly #keys = new LruMap<string, Promise<Uint8Array>>(maxCachedKeys);
  readonly #openedConfigs = new LruMap<string, OpenedConfig>(maxCachedKeys);
  #serverKey: Uint8Array = new Uint8Array(32);

  constructor(context: Context, secretSetting: string) {
    this.#context = context;
    this.#store = new ProfileStore(context.db);
    this.#secretSetting = secretSetting;
  }

  /** Loads the server key, or creates it at the first start. */
  async start(): Promise<void> {
    const { random } = this.#context;
    const location = { table: 'secrets', name: 'server-key', purpose: 'addons.server-key' };
    const createKey = (): string => Buffer.from(random.bytes(32)).toString('hex');
    this.#serverKey = deriveKeyFromSecret(
      this.#secretSetting || (await loadOrCreateKey(this.#context, location, createKey)),
    );
  }

  count(): Promise<number> {
    return this.#store.count();
  }

  /** Seals a text for use in addresses. Only this server can unseal it. */
  seal(text: string, purpose: string): string {
    return sealText(text, this.#serverKey, this.#context.random, purpose).toString('base64url');
  }

  /** Reverses {@link seal}. Returns undefined for other texts. */
  unseal(sealed: string, purpose: string): string | undefined {
    if (!/^[\w-]+$/.test(sealed)) return undefined;
    return unsealText(Buffer.from(sealed, 'base64url'), this.#serverKey, purpose);
  }

  /**
   * Creates a configuration.
   *
   * @throws Problem `addons.parent_gone` (400) before anything is written.
   */
  async create(
    config: AddonConfig,
    password: string,
    {
      isManaged = false,
      owner,
      ...origin
    }: ConfigurationOrigin & { readonly isManaged?: boolean; readonly owner?: string } = {},
  ): Promise<StoredProfile> {
    checkPassword(password);
    await this.#openParent(config, undefined);
    const { clock, commit, random, vault } = this.#context;
    const uuid = randomUUID();
    const salt = Buffer.from(random.bytes(16)).toString('base64url');
    const now = clock.now();
    const row: ProfileRow = {
      uuid,
      salt,
      config: await this.#sealConfig({ ...config, uuid }, uuid, password, salt),
      kept_password: isManaged ? vault.seal(password, `addons.profile:${uuid}`) : null,
      made_elsewhere: getOriginMark(origin),
      owner: owner ?? null,
      created_at: now,
      updated_at: now,
    };
    await commit((transaction) => this.#store.insert(transaction, row));
    return this.getStored(uuid, password);
  }

  /**
   * Returns a configuration without inherited values, so that it can be edited when the parent is deleted.
   *
   * @throws Problem `addons.wrong_details` (400)
   */
  async getStored(uuid: string, password: string): Promise<StoredProfile> {
    const { config: ownConfig } = await this.#openConfig(uuid, password);
    return { uuid, encryptedPassword: this.seal(password, `password:${uuid}`), ownConfig };
  }

  /**
   * Opens a configuration with inherited values.
   *
   * @throws Problem `addons.wrong_details` (400); `addons.parent_gone` (400)
   */
  async open(uuid: string, password: string, encryptedPassword?: string): Promise<Profile> {
    const { config: ownConfig, updatedAt, foreign, publicOnly } = await this.#openConfig(uuid, password);
    const encrypted = encryptedPassword ?? this.seal(password, `password:${uuid}`);
    const profile = { uuid, encryptedPassword: encrypted, ownConfig, foreign, publicOnly };
    const parentConfig = await this.#openParent(ownConfig, uuid);
    if (parentConfig === undefined) return { ...profile, config: ownConfig, revision: String(updatedAt) };
    const revision = `${String(updatedAt)}.${String(parentConfig.updatedAt)}`;
    return {
      ...profile,
      config: mergeParentConfig(parentConfig.config, ownConfig),
      revision,
      foreign: foreign || parentConfig.foreign,
      publicOnly: publicOnly || parentConfig.publicOnly,
    };
  }

  /**
   * Opens the configuration of an install address.
   *
   * @throws Problem as {@link open}; `addons.unreadable_password` (400) when the server cannot unseal the password.
   */
  async openSealed(uuid: string, encryptedPassword: string): Promise<Profile> {
    const row = uuidPattern.test(uuid) ? await this.#store.find(uuid) : undefined;
    if (row === undefined) throw new Problem('addons.unknown_user', 400, 'User not found');
    const password = this.unseal(encryptedPassword, `password:${uuid}`);
    if (password === undefined) throw new Problem('addons.unreadable_password', 400, 'Invalid password');
    return this.open(uuid, password, encryptedPassword);
  }

  /**
   * Saves a configuration.
   *
   * @throws Problem `addons.parent_gone` (400) before anything is written.
   */
  async save(
    uuid: string,
    password: string,
    config: AddonConfig,
    origin: ConfigurationOrigin = {},
  ): Promise<StoredProfile> {
    await this.#openParent(config, uuid);
    const { salt, updated_at } = await this.#getRow(uuid);
    const sealed = await this.#sealConfig({ ...config, uuid }, uuid, password, salt);
    // Two saves within one millisecond are two revisions.
    const now = Math.max(this.#context.clock.now(), updated_at + 1);
    await this.#updateRow(uuid, { config: sealed, updated_at: now, made_elsewhere: getOriginMark(origin) });
    return this.getStored(uuid, password);
  }

  /** Changes the password. Install addresses with the former password stop working. */
  async changePassword(uuid: string, password: string, newPassword: string): Promise<StoredProfile> {
    checkPassword(newPassword);
    const { config } = await this.#openConfig(uuid, password);
    const row = await this.#getRow(uuid);
    const salt = Buffer.from(this.#context.random.bytes(16)).toString('base64url');
    await this.#updateRow(uuid, {
      salt,
      config: await this.#sealConfig(config, uuid, newPassword, salt),
      kept_password:
        row.kept_password === null ? null : this.#context.vault.seal(newPassword, `addons.profile:${uuid}`),
      updated_at: Math.max(this.#context.clock.now(), row.updated_at + 1),
    });
    return this.getStored(uuid, newPassword);
  }

  async remove(uuid: string): Promise<void> {
    await this.#context.commit((transaction) => this.#store.remove(transaction, uuid));
    this.#openedConfigs.deleteWhere((key) => key.startsWith(uuid));
  }

  /** Returns the time of creation in milliseconds since the epoch. */
  async createdAt(uuid: string): Promise<number> {
    return (await this.#getRow(uuid)).created_at;
  }

  async exists(uuid: string): Promise<boolean> {
    return uuidPattern.test(uuid) && (await this.#store.find(uuid)) !== undefined;
  }

  /**
   * Returns the configurations that are managed on the page. Configurations whose password the vault cannot open are
   * omitted, for example after a move without the vault key.
   */
  async listManaged(): Promise<
    readonly {
      readonly uuid: string;
      readonly password: string;
      readonly updatedAt: number;
      readonly owner: string | null;
    }[]
  > {
    const rows = await this.#store.listManaged();
    return rows.flatMap(({ uuid, kept_password, updated_at, owner }) => {
      try {
        const password = this.#context.vault.open(kept_password ?? '', `addons.profile:${uuid}`);
        return [{ uuid, password, updatedAt: updated_at, owner }];
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        this.#context.log.warn('configuration password unreadable', { uuid, error });
        return [];
      }
    });
  }

  /** Returns the account that created the configuration on the page; undefined for other clients and without one. */
  async findOwner(uuid: string): Promise<string | undefined> {
    return (uuidPattern.test(uuid) ? await this.#store.find(uuid) : undefined)?.owner ?? undefined;
  }

  /** Returns the number of configurations of an account. */
  countByOwner(account: string): Promise<number> {
    return this.#store.countByOwner(account);
  }

  /**
   * Deletes or transfers the configurations of a removed account, so that a later account of the same name gets none of
   * them.
   */
  async release(account: string, disposition: AccountDisposition): Promise<void> {
    await this.#context.commit(async (transaction) => {
      if (disposition.action === 'delete') await this.#store.removeByOwner(transaction, account);
      else {
        const newOwner = disposition.action === 'transfer' ? disposition.to : disposition.as;
        await this.#store.changeOwner(transaction, account, newOwner);
      }
    });
  }

  /**
   * Returns the password of a configuration that is managed on the page.
   *
   * @throws Problem `addons.unknown_profile` (404)
   */
  async getManagedPassword(uuid: string): Promise<string> {
    const row = uuidPattern.test(uuid) ? await this.#store.find(uuid) : undefined;
    if (row?.kept_password === null || row === undefined)
      throw new Problem('addons.unknown_profile', 404, m.configurationNotFound());
    return this.#context.vault.open(row.kept_password, `addons.profile:${uuid}`);
  }

  /**
   * Opens the parent of a configuration.
   *
   * @throws Problem `addons.parent_gone` (400)
   */
  async #openParent(
    { parentConfig: parent }: AddonConfig,
    uuid: string | undefined,
  ): Promise<OpenedConfig | undefined> {
    if (parent === null || parent === undefined || parent.uuid === uuid) return undefined;
    return this.#openConfig(parent.uuid, parent.password).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      throw new Problem('addons.parent_gone', 400, m.parentNotFound);
    });
  }

  async #openConfig(uuid: string, password: string): Promise<OpenedConfig> {
    const row = uuidPattern.test(uuid) ? await this.#store.find(uuid) : undefined;
    if (row === undefined) throw createWrongDetailsProblem();
    const cacheKey = `${uuid} ${this.#context.vault.fingerprint(password, 'addons.password')}`;
    const cachedConfig = this.#openedConfigs.get(cacheKey);
    if (cachedConfig !== undefined && cachedConfig.updatedAt === row.updated_at) return cachedConfig;
    const key = await this.#deriveKey(uuid, password, row.salt);
    const text = unsealText(Buffer.from(row.config, 'base64url'), key, `config:${uuid}`);
    if (text === undefined) throw createWrongDetailsProblem();
    const opened = {
      config: parseConfig(text),
      updatedAt: row.updated_at,
      foreign: Number(row.made_elsewhere) === 1,
      publicOnly: Number(row.made_elsewhere) !== 0,
    };
    this.#openedConfigs.set(cacheKey, opened);
    return opened;
  }

  async #getRow(uuid: string): Promise<ProfileRow> {
    const row = await this.#store.find(uuid);
    if (row === undefined) throw createWrongDetailsProblem();
    return row;
  }

  async #updateRow(uuid: string, change: Partial<ProfileRow>): Promise<void> {
    if (!(await this.#context.commit((transaction) => this.#store.update(transaction, uuid, change))))
      throw createWrongDetailsProblem();
  }

  async #sealConfig(config: AddonConfig, uuid: string, password: string, salt: string): Promise<string> {
    const key = await this.#deriveKey(uuid, password, salt);
    return sealText(JSON.stringify(config), key, this.#context.random, `config:${uuid}`).toString('base64url');
  }

  #deriveKey(uuid: string, password: string, salt: string): Promise<Uint8Array> {
    const cacheKey = `${uuid} ${salt} ${this.#context.vault.fingerprint(password, 'addons.password')}`;
    const cachedKey = this.#keys.get(cacheKey);
    if (cachedKey !== undefined) return cachedKey;
    const key = deriveKeyFromPassword(password, Buffer.from(salt, 'base64url'));
    this.#keys.set(cacheKey, key);
    return key;
  }
}

function getOriginMark({ foreign = false, publicOnly = false }: ConfigurationOrigin): number {
  return foreign ? 1 : publicOnly ? 2 : 0;
}

function checkPassword(password: string): void {
  if (password.length < minPasswordLength)
    throw new Problem('addons.password_too_short', 400, 'New password is too short');
}

function createWrongDetailsProblem(): Problem {
  return new Problem('addons.wrong_details', 400, 'Invalid UUID or password');
}
