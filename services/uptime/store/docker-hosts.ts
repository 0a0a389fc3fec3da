import * as m from '#messages/uptime-problems';
import type { Kysely } from 'kysely';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { DockerHost } from '../../contracts/uptime/views.ts';
import type { Tables } from './tables.ts';

/** Stores the container engines of monitors. */
export class DockerHosts {
  readonly #context: Pick<Context, 'db' | 'commit'>;
  readonly #changed: (list: readonly DockerHost[]) => void;

  constructor(context: Pick<Context, 'db' | 'commit'>, changed: (list: readonly DockerHost[]) => void) {
    this.#context = context;
    this.#changed = changed;
  }

  async list(): Promise<DockerHost[]> {
    const db: Kysely<Tables> = this.#context.db;
    const rows = await db.selectFrom('docker_hosts').selectAll().orderBy('id').execute();
    return rows.map(({ id, name, docker_type, docker_daemon }) => ({
      id,
      name,
      dockerType: docker_type,
      dockerDaemon: docker_daemon,
    }));
  }

  /**
   * Adds an engine, or changes the engine with an ID.
   * @throws Problem `uptime.unknown_engine` (404)
   */
  async put(host: Omit<DockerHost, 'id'>, id?: number): Promise<DockerHost> {
    const row = { name: host.name, docker_type: host.dockerType, docker_daemon: host.dockerDaemon };
    const stored = await this.#context.commit(async (transaction: Kysely<Tables>) =>
      id === undefined
        ? transaction.insertInto('docker_hosts').values(row).returning('id').executeTakeFirst()
        : transaction.updateTable('docker_hosts').set(row).where('id', '=', id).returning('id').executeTakeFirst(),
    );
    if (stored === undefined) throw createUnknownEngineProblem();
    this.#changed(await this.list());
    return { id: stored.id, ...host };
  }

  async remove(id: number): Promise<void> {
    const removed = await this.#context.commit(async (transaction: Kysely<Tables>) =>
      transaction.deleteFrom('docker_hosts').where('id', '=', id).returning('id').executeTakeFirst(),
    );
    if (removed === undefined) throw createUnknownEngineProblem();
    this.#changed(await this.list());
  }

  async start(): Promise<void> {
    this.#changed(await this.list());
  }
}

function createUnknownEngineProblem(): Problem {
  return new Problem('uptime.unknown_engine', 404, m.engineNotFound());
}
