import * as m from '#messages/uptime-texts';
import { notificationOffered } from '../../contracts/notify/notification.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushOffered } from '../../contracts/push/topics.ts';
import type { Context } from '../../contracts/service.ts';
import { formatDuration } from '../domain/time-format.ts';
import type { StatusPages } from '../store/status-pages.ts';
import { messageFollowers, type Announcement, type PageMessageQueue } from './page-message-queue.ts';

const seconds = 1000;

export interface PageNotifierDependencies {
  readonly context: Pick<Context, 'commit' | 'handovers' | 'inHostLanguage' | 'jobs'>;
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
    const announcement = await this.#dependencies.context.inHostLanguage(() => toAnnouncement(event));
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
  const title = text('maintenanceTitle');
  switch (kind) {
    case 'down':
      return {
        id,
        words: m.newsDown({ name }),
        message: m.newsDownSince({ time: formatMinute(text('at')) }),
        good: false,
      };
    case 'up': {
      const duration = formatDuration(Number(event['downSeconds'] ?? 0) * seconds);
      return { id, words: m.newsUp({ name }), message: m.wasDownFor({ duration }), good: true };
    }
    case 'maintenance_reminder':
      return {
        id,
        words: m.newsMaintenancePlanned({ title }),
        message: formatWindow(text('startsAt'), text('endsAt')),
        good: false,
      };
    case 'maintenance_started': {
      const end = text('endsAt');
      const message = end === '' ? m.newsLastsUntilEnded() : m.newsLastsUntil({ end: formatMinute(end) });
      return { id, words: m.newsMaintenanceStarted({ title }), message, good: false };
    }
    case 'maintenance_ended':
      return { id, words: m.newsMaintenanceEnded({ title }), message: '', good: true };
    default:
      return undefined;
  }
}

/** @param end Empty when the maintenance is ended manually */
function formatWindow(start: string, end: string): string {
  if (end === '') return m.newsFrom({ start: formatMinute(start) });
  return m.newsFromUntil({ start: formatMinute(start), end: formatMinute(end) });
}

function formatMinute(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}
