import * as m from '#messages/mail-problems';
import type { SpooledMail } from '../../contracts/mail/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { deliver, toDeliveryKey } from '../deliver/delivery-worker.ts';
import { parseSubject } from '../mime/subject.ts';
import type { MessageStore, StoredMessage } from '../store/messages.ts';
import type { SourceLocation, Sources } from '../store/sources.ts';
import { toDeliveries, toSummary, type JobsByKey } from './views.ts';

export interface SpoolViewDependencies {
  readonly context: Pick<Context, 'jobs'>;
  readonly messages: MessageStore;
  readonly sources: Sources;
}

/** Number of bytes searched for the subject of a listed mail. */
const headBytes = 16 * 1024;

/** Finds the mails of the spool with the jobs of their deliveries. */
export class SpoolView {
  readonly #dependencies: SpoolViewDependencies;

  constructor(dependencies: SpoolViewDependencies) {
    this.#dependencies = dependencies;
  }

  async findJobs(list: readonly StoredMessage[]): Promise<JobsByKey> {
    const keys = list.flatMap(({ id, deliveries }) => deliveries.map((_, part) => toDeliveryKey(id, part)));
    if (keys.length === 0) return new Map();
    const { jobs } = this.#dependencies.context;
    const jobList = await jobs.list({ kind: deliver.name, keys, limit: keys.length });
    return new Map(jobList.map((job) => [job.key ?? '', job]));
  }

  async toSummaries(list: readonly StoredMessage[]): Promise<readonly SpooledMail[]> {
    const jobsByKey = await this.findJobs(list);
    const subjects = await Promise.all(list.map((message) => this.#getSubject(message)));
    return list.map((message, index) => toSummary(message, toDeliveries(message, jobsByKey), subjects[index] ?? ''));
  }

  /** @throws Problem `mail.unknown` (404) */
  async requireMessage(id = ''): Promise<StoredMessage> {
    const message = await this.#dependencies.messages.find(id);
    if (message !== undefined) return message;
    throw new Problem('mail.unknown', 404, m.unknownMail());
  }

  /** @throws Problem `mail.source_gone` (410) */
  async requireSource(id: string): Promise<SourceLocation> {
    const location = await this.#dependencies.sources.findLocation(id);
    if (location !== undefined) return location;
    throw new Problem('mail.source_gone', 410, m.sourceGone());
  }

  async #getSubject({ id, subject }: StoredMessage): Promise<string> {
    const head = subject === undefined ? await this.#dependencies.sources.head(id, headBytes) : undefined;
    return subject ?? parseSubject(getHeader(head ?? Buffer.alloc(0)));
  }
}

/** Returns everything before the first empty line. */
function getHeader(head: Uint8Array): string {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  return text.split(/\r?\n\r?\n/, 1)[0] ?? '';
}
