import { access, chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { openStoredKey } from '../../kit/stored-key.ts';
import type { Tables } from '../store/tables.ts';

const purpose = 'sync.engine-configuration';

/** The engine's own file of remotes with their secrets. It is encrypted by the engine; its password is in the vault. */
export class ConfigFile {
  readonly path: string;
  readonly #context: Pick<Context, 'children' | 'commit' | 'random' | 'vault'>;
  readonly #db: Kysely<Tables>;

  constructor(path: string, context: Pick<Context, 'children' | 'commit' | 'db' | 'random' | 'vault'>) {
    this.path = path;
    this.#context = context;
    this.#db = context.db;
  }

  /** Makes it where it is not there yet; its password. @throws Problem `sync.configuration` (503). */
  async open(program: string): Promise<string> {
    const password = await this.#password();
    const isThere = await access(this.path).then(
      () => true,
      () => false,
    );
    if (!isThere) await this.#make(program, password);
    return password;
  }

  async #password(): Promise<string> {
    const found = await this.#db.selectFrom('keepsakes').select('value').where('name', '=', purpose).executeTakeFirst();
    if (found !== undefined) {
      return openStoredKey(this.#context.vault, found.value, { purpose, service: 'sync', name: 'remotes' });
    }
    const password = this.#context.random.text(40);
    const value = this.#context.vault.seal(password, purpose);
    await this.#context.commit((transaction: Kysely<Tables>) =>
      transaction.insertInto('keepsakes').values({ name: purpose, value }).execute(),
    );
    return password;
  }

  async #make(program: string, password: string): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    // Beside its place until it is encrypted: a plain one that a kill leaves would stay plain for ever.
    const made = `${this.path}.new`;
    await writeFile(made, '', { mode: 0o600 });
    const child = await this.#context.children.start({
      name: 'engine configuration',
      file: program,
      args: ['--config', made, 'config', 'encryption', 'set'],
      shortLived: true,
    });
    child.stdout.resume();
    child.stderr.resume();
    child.stdin.end(`${password}\n${password}\n`);
    const { code } = await child.exited;
    if (code !== 0) {
      await rm(made, { force: true });
      throw new Problem('sync.configuration', 503, 'rclone could not make its encrypted configuration.');
    }
    await chmod(made, 0o600);
    await rename(made, this.path);
  }
}
