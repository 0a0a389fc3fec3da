import * as m from '#messages/uptime-problems';
import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { MaintenanceConfig, type Maintenance } from '../../contracts/uptime/maintenance.ts';
import { isZone } from '../../contracts/zone.ts';
import {
  toCronRule,
  getDurationSeconds,
  findSlotAt,
  findSlots,
  getMaintenanceStatus,
  validateWindow,
  type MaintenancePlan,
} from '../domain/maintenance.ts';
import type { Slot } from '../domain/cron.ts';
import { formatOffset } from '../domain/time-zone.ts';
import type { MaintenanceStore, StoredMaintenance } from '../store/maintenances.ts';
import { buildWindowEvent, type UptimeEvent, type WindowEventKind } from '../notifications/events.ts';
import type { EventQueue } from '../notifications/event-queue.ts';
import { SerialQueue } from '../../kit/serial-queue.ts';

/** Maximum delay between two evaluations, because clocks can be set and computers can sleep. */
const maxDelayMs = 30_000;
/** Time in which a host takes over from another one. */
const maxUnsentMs = 60_000;
const dayMs = 86_400_000;
const visibleSlots = 5;
const sameAsServer = 'SAME_AS_SERVER';

export interface MaintenancesDependencies {
  readonly context: Pick<Context, 'commit' | 'clock' | 'log'>;
  readonly store: MaintenanceStore;
  readonly events: EventQueue;
  /** Time zone of windows without their own. */
  readonly serverZone: () => string;
  /** Called with the monitors whose maintenance began or ended. */
  readonly onCoverageChange: (monitors: readonly number[]) => void;
  /** Called when a window changed, began or ended. */
  readonly onChange: () => void;
}

/** Manages maintenance windows: determines which monitors are covered and sends the notifications. */
export class Maintenances implements Disposable {
  readonly #dependencies: MaintenancesDependencies;
  readonly #all = new Map<number, StoredMaintenance>();
  /** Slots of the active windows. */
  #running = new Map<number, Slot>();
  #coveredIds: ReadonlySet<number> = new Set();
  #timer: Disposable | undefined;
  readonly #changes = new SerialQueue();
  /** Commits with the lease of the checks; undefined while another host sends the notifications. */
  #commit: Context['commit'] | undefined;
  /** Notifications that another host sends, in case that it fails. */
  #unsent: DueAnnouncement[] = [];
  #closed = false;

  constructor(dependencies: MaintenancesDependencies) {
    this.#dependencies = dependencies;
  }

  async start(): Promise<void> {
    const rows = await this.#dependencies.store.all();
    this.#all.clear();
    for (const stored of rows) this.#all.set(stored.id, stored);
    this.#update();
  }

  /** Loads the windows that other hosts have changed. */
  reload(): Promise<void> {
    return this.#changes.run(async () => {
      await this.start();
      this.#dependencies.onChange();
    });
  }

  /** Begins to send notifications, first those that the former owner has not sent. */
  startNotifications(commit: Context['commit']): void {
    this.#commit = commit;
    const unsent = this.#unsent;
    this.#unsent = [];
    for (const announcement of unsent) this.#send(announcement);
    this.#update();
  }

  stopNotifications(): void {
    this.#commit = undefined;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
  }

  /** Returns true when an active window lists the monitor. Members of listed groups are handled by the caller. */
  covers(monitor: number): boolean {
    return this.#coveredIds.has(monitor);
  }

  all(): readonly Maintenance[] {
    return [...this.#all.values()].map((stored) => this.#toView(stored));
  }

  /** Returns the windows of a status page that are active or begin within `withinMs`. */
  listForPage(page: number, withinMs: number): readonly Maintenance[] {
    const now = this.#dependencies.context.clock.now();
    return [...this.#all.values()]
      .filter(({ config }) => config.statusPages.includes(page))
      .filter((stored) => findSlots(this.#toPlan(stored), now, 1).some(({ start }) => start <= now + withinMs))
      .map((stored) => this.#toView(stored));
  }

  /** @throws Problem `uptime.unknown_maintenance` (404) */
  get(id: number): Maintenance {
    return this.#toView(this.#getStored(id));
  }

  /** @throws Problem `uptime.invalid` (400) with fields */
  add(input: MaintenanceConfig): Promise<Maintenance> {
    assertValid(input);
    return this.#changes.run(async () => {
      const { context, store } = this.#dependencies;
      const since = context.clock.now();
      const id = await context.commit((transaction) => store.add(transaction, input, since));
      this.#all.set(id, { id, config: input, since, told: [] });
      this.#refresh();
      return this.get(id);
    });
  }

  /** Changes the given fields. */
  change(id: number, input: Readonly<Record<string, unknown>>): Promise<Maintenance> {
    return this.#changes.run(async () => {
      const { context, store } = this.#dependencies;
      const stored = this.#getStored(id);
      const definedFields = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
      const parsed = MaintenanceConfig.safeParse({ ...stored.config, ...definedFields });
      if (!parsed.success) throw invalid(parsed.error);
      assertValid(parsed.data);
      const isActiveChanged = parsed.data.active !== stored.config.active;
      const next = {
        ...stored,
        config: parsed.data,
        since: isActiveChanged || parsed.data.strategy !== stored.config.strategy ? context.clock.now() : stored.since,
      };
      await context.commit((transaction) => store.change(transaction, next));
      this.#all.set(id, next);
      this.#refresh();
      return this.get(id);
    });
  }

  remove(id: number): Promise<void> {
    return this.#changes.run(async () => {
      this.#getStored(id);
      const { context, store } = this.#dependencies;
      await context.commit((transaction) => store.remove(transaction, id));
      this.#all.delete(id);
      this.#refresh();
    });
  }

  #getStored(id: number): StoredMaintenance {
    const stored = this.#all.get(id);
    if (stored === undefined) throw new Problem('uptime.unknown_maintenance', 404, m.maintenanceNotFound());
    return stored;
  }

  #toPlan({ config, since }: StoredMaintenance): MaintenancePlan {
    return { config, since, zone: this.#getZone(config) };
  }

  #getZone({ timezoneOption }: MaintenanceConfig): string {
    return timezoneOption === sameAsServer ? this.#dependencies.serverZone() : timezoneOption;
  }

  #refresh(): void {
    this.#update();
    this.#dependencies.onChange();
  }

  /** Determines the active windows, sends due notifications and sets the timer for the next change. */
  #update(): void {
    if (this.#closed) return;
    const { clock } = this.#dependencies.context;
    const now = clock.now();
    const running = new Map<number, Slot>();
    let next = now + maxDelayMs;
    const dueAnnouncements: DueAnnouncement[] = [];
    for (const stored of this.#all.values()) {
      const plan = this.#toPlan(stored);
      const slot = findSlotAt(plan, now);
      if (slot !== undefined) running.set(stored.id, slot);
      for (const { start, end } of findSlots(plan, now, 2)) {
        const moments = [start, end, ...stored.config.reminders.map((seconds) => start - seconds * 1000)];
        for (const moment of moments) if (moment > now) next = Math.min(next, moment);
      }
      const events = findAnnouncements(stored, { before: this.#running.get(stored.id), running: slot, plan, now });
      if (events.length > 0) dueAnnouncements.push({ stored, events, at: now });
    }
    const previous = this.#coveredIds;
    const began = [...running].some(([id, { start }]) => this.#running.get(id)?.start !== start);
    const ended = [...this.#running.keys()].some((id) => !running.has(id));
    this.#running = running;
    this.#coveredIds = new Set([...running.keys()].flatMap((id) => this.#all.get(id)?.config.monitors ?? []));
    const changedIds = [...previous, ...this.#coveredIds].filter((id) => previous.has(id) !== this.#coveredIds.has(id));
    if (changedIds.length > 0) this.#dependencies.onCoverageChange(changedIds);
    if (began || ended) this.#dependencies.onChange();
    for (const announcement of dueAnnouncements) this.#send(announcement);
    this.#timer?.[Symbol.dispose]();
    this.#timer = clock.after(Math.max(1, next - now), () => this.#update());
  }

  #send(announcement: DueAnnouncement): void {
    const { clock, log } = this.#dependencies.context;
    if (this.#commit === undefined) {
      const isRecent = ({ at }: DueAnnouncement): boolean => at > clock.now() - maxUnsentMs;
      this.#unsent = [...this.#unsent.filter(isRecent), announcement];
      return;
    }
    this.#announce(announcement.stored, announcement.events, this.#commit).catch((error: unknown) =>
      log.error('maintenance notification failed', { error }),
    );
  }

  #announce(
    input: StoredMaintenance,
    announcements: readonly Announcement[],
    commit: Context['commit'],
  ): Promise<void> {
    return this.#changes.run(async () => {
      const stored = this.#all.get(input.id) ?? input;
      const { context, store, events } = this.#dependencies;
      const newEvents = announcements.filter(({ key }) => !stored.told.includes(key));
      if (newEvents.length === 0) return;
      const now = context.clock.now();
      const recent = (key: string): boolean => Number(key.split(':')[1]) > now - 7 * dayMs;
      const announcedKeys = [
        ...stored.told.filter(recent),
        ...newEvents.flatMap(({ key, covers }) => [key, ...covers]),
      ];
      const next = { ...stored, told: announcedKeys };
      await commit(async (transaction) => {
        if (this.#all.has(stored.id)) await store.change(transaction, next);
        const order = `maintenance:${String(stored.id)}`;
        for (const { event } of newEvents)
          await events.enqueue(transaction, event, { monitor: null, order, tag: null });
      });
      if (this.#all.has(stored.id)) this.#all.set(stored.id, next);
    });
  }

  #toView(stored: StoredMaintenance): Maintenance {
    const { id, config } = stored;
    const plan = this.#toPlan(stored);
    const now = this.#dependencies.context.clock.now();
    const upcoming = findSlots(plan, now, visibleSlots).map(({ start, end }) => ({
      startDate: new Date(start).toISOString(),
      endDate: Number.isFinite(end) ? new Date(end).toISOString() : null,
    }));
    const duration = getDurationSeconds(config);
    const [first, last] = config.dateRange;
    // Uptime Kuma lists the current and the next slot, and none before the date range begins.
    const began = first === undefined || `${new Date(now).toISOString().slice(0, 10)}` >= first.slice(0, 10);
    const recurring = config.strategy !== 'manual' && config.strategy !== 'single';
    return {
      ...config,
      id,
      cron: toCronRule(config),
      duration,
      durationMinutes: duration === null ? config.durationMinutes : Math.floor(duration / 60),
      timezone: plan.zone,
      timezoneOffset: formatOffset(now, plan.zone),
      status: getMaintenanceStatus(plan, now),
      timeslotList:
        config.strategy === 'single' && first !== undefined && last !== undefined
          ? [{ startDate: first, endDate: last }]
          : recurring && began
            ? upcoming.slice(0, 2)
            : [],
      upcoming,
    };
  }
}

/** Notifications of a window with the time at which they became due. */
interface DueAnnouncement {
  readonly stored: StoredMaintenance;
  readonly events: readonly Announcement[];
  readonly at: number;
}

interface Announcement {
  readonly key: string;
  /** Longer reminders that this one replaces. */
  readonly covers: readonly string[];
  readonly event: UptimeEvent;
}

/** Returns the due announcements. The shortest due reminder replaces the longer ones. */
function findAnnouncements(
  stored: StoredMaintenance,
  {
    before,
    running,
    plan,
    now,
  }: {
    readonly before: Slot | undefined;
    readonly running: Slot | undefined;
    readonly plan: MaintenancePlan;
    readonly now: number;
  },
): readonly Announcement[] {
  const { id, config, told } = stored;
  const { title, description, monitors: monitorIds, reminders, notifyStart, notifyEnd } = config;
  const announced: Announcement[] = [];
  const add = (kind: WindowEventKind, slot: Slot, seconds?: number, covers: readonly string[] = []): void => {
    const key = buildKey(kind, slot.start, seconds);
    if (told.includes(key)) return;
    announced.push({
      key,
      covers,
      event: buildWindowEvent({ id, title, description, monitorIds, zone: plan.zone, ...slot }, kind, now, seconds),
    });
  };
  const endedSlot = before !== undefined && before.start !== running?.start ? before : undefined;
  if (notifyEnd && endedSlot !== undefined) add('maintenance_ended', endedSlot);
  if (notifyStart && running !== undefined) add('maintenance_started', running);
  if (config.strategy === 'manual') return announced;
  for (const slot of findSlots(plan, now, 2)) {
    if (slot.start <= now) continue;
    const due = reminders.filter((seconds) => slot.start - seconds * 1000 <= now).toSorted((a, b) => a - b);
    const [shortest, ...longer] = due;
    if (shortest !== undefined)
      add(
        'maintenance_reminder',
        slot,
        shortest,
        longer.map((one) => buildKey('maintenance_reminder', slot.start, one)),
      );
  }
  return announced;
}

function buildKey(kind: WindowEventKind, start: number, seconds: number | undefined): string {
  return `${kind}:${String(start)}${seconds === undefined ? '' : `:${String(seconds)}`}`;
}

function assertValid(config: MaintenanceConfig): void {
  const { timezoneOption: zone } = config;
  const fields: Record<string, string> = validateWindow(config);
  if (zone !== sameAsServer && !isZone(zone)) fields['timezoneOption'] = m.timeZoneInvalid();
  const [first] = Object.entries(fields);
  if (first !== undefined) throw new Problem('uptime.invalid', 400, first[1], { fields });
}

function invalid(error: z.ZodError): Problem {
  const fields = Object.fromEntries(error.issues.map(({ path, message }) => [path.join('.'), message]));
  return new Problem('uptime.invalid', 400, z.prettifyError(error), { fields });
}
