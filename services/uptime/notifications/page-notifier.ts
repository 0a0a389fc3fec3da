import { notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushOffered } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import { formatDuration } from '../domain/time-format.ts';
import type { StatusPages } from '../store/status-pages.ts';
import { messageFollowers, type Announcement, type PageMessageQueue } from './page-message-queue.ts';

const seconds = 1000;

export interface PageNotifierDependencies {
  readonly context: Pick<Context, 'commit' | 'handovers' | 'jobs'>;
  readonly pages: Pick<StatusPages, 'all'>;
  /** Returns the pages that list a maintenance window. */
  readonly findPagesOfWindow: (window: number) => readonly number[];
  readonly messages: PageMessageQueue;
}

/** Notifies the followers of status pages over push topics, destinations of Delivery, and mail. */
export class PageNotifier {
  readonly #dependencies: PageNotifierDependencies;

  constructor(dependencies: PageNotifierDependencies) {
    this.#dependencies = dependencies;
  }

  /** Announces an event to the followers of the affected pages, without its cause and target. */
  async handleEvent(
    event: Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string },
  ): Promise<void> {
    const { messages } = this.#dependencies;
    const announcement = toAnnouncement(event);
    if (announcement === undefined) return;
    const monitor = event['monitorId'];
    const windowPages =
      event['maintenanceId'] === undefined ? [] : this.#dependencies.findPagesOfWindow(Number(event['maintenanceId']));
    const pages = this.#dependencies.pages
      .all()
      .filter(
        ({ id, groups }) =>
          windowPages.includes(id) ||
          groups.some(({ monitorList }) => monitorList.some((entry) => entry.id === monitor)),
      );
    if (!pages.some((page) => messages.hasFollowers(page))) return;
    await this.#dependencies.context.commit(async (transaction) => {
      for (const page of pages) await messages.enqueue(transaction, page, announcement);
    });
  }

  handle(): Disposable {
    const { context } = this.#dependencies;
    return context.jobs.handle(messageFollowers, async ({ payload }) => {
      const { key, slug, title, message, good: isGood, topic, tag } = payload;
      const link = this.#getLink(slug);
      const source = 'uptime';
      if (topic !== null) {
        await ignoreDisabledService(
          context.handovers.pass(pushOffered, `${key}:push`, {
            ...{ topic, title, message, source, markdown: false, origin: key },
            tags: [isGood ? 'white_check_mark' : 'warning'],
            ...(link === undefined ? {} : { click: link }),
          }),
        );
      }
      if (tag !== null) {
        await ignoreDisabledService(
          context.handovers.pass(notificationOffered, key, {
            ...{ configuration: 'aggregator', tag },
            notice: {
              ...{ title, body: message, format: 'text', tags: ['uptime', 'uptime.status-page'], source },
              type: isGood ? 'success' : 'info',
              ...(link === undefined ? {} : { link }),
            },
          }),
        );
      }
    });
  }

  #getLink(slug: string): string | undefined {
    const base = this.#dependencies.messages.getBaseUrl(
      this.#dependencies.pages.all().find(({ config }) => config.slug === slug),
    );
    return base === undefined ? undefined : `${base}/status/${slug}`;
  }
}

/** Ignores handovers to a disabled service. */
async function ignoreDisabledService(passing: Promise<void>): Promise<void> {
  try {
    await passing;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'handover.switched_off')) throw error;
  }
}

function toAnnouncement(
  event: Readonly<Record<string, unknown>> & { readonly id: string; readonly kind: string },
): Announcement | undefined {
  const { id, kind } = event;
  const text = (field: string): string => (typeof event[field] === 'string' ? event[field] : '');
  const name = text('monitorName');
  if (event['repeat'] !== undefined || event['flapping'] !== undefined) return undefined;
  const until = text('endsAt') === '' ? '' : ` until ${formatMinute(text('endsAt'))}`;
  const title = text('maintenanceTitle');
  switch (kind) {
    case 'down':
      return { id, words: `${name} is down`, message: `Since ${formatMinute(text('at'))}.`, good: false };
    case 'up': {
      const length = formatDuration(Number(event['downSeconds'] ?? 0) * seconds);
      return { id, words: `${name} is up again`, message: `It was down for ${length}.`, good: true };
    }
    case 'maintenance_reminder':
      return {
        id,
        words: `Maintenance: ${title}`,
        message: `From ${formatMinute(text('startsAt'))}${until}.`,
        good: false,
      };
    case 'maintenance_started':
      return {
        id,
        words: `Maintenance has started: ${title}`,
        message: `It lasts${until || ' until it is done'}.`,
        good: false,
      };
    case 'maintenance_ended':
      return { id, words: `Maintenance has ended: ${title}`, message: '', good: true };
    default:
      return undefined;
  }
}

function formatMinute(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
