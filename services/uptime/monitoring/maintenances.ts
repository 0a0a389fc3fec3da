import { z } from 'zod';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { MaintenanceConfig, type Maintenance } from '../../contracts/uptime/maintenance.ts';
import { isZone } from '../../contracts/zone.ts';
import { cronOf, durationOf, slotAt, slotsFrom, statusOf, windowTrouble, type Plan } from '../domain/maintenance.ts';
import type { Slot } from '../domain/cron.ts';
import { offsetText } from '../domain/time-zone.ts';
import type { MaintenanceStore, StoredMaintenance } from '../store/maintenances.ts';
import { windowEvent, type UptimeEvent, type WindowMoment } from '../notifications/events.ts';
import type { Teller } from '../notifications/notifier.ts';

/** Maximum delay between two evaluations, because clocks can be set and computers can sleep. */
const longestWaitMs = 30_000;
const dayMs = 86_400_000;
const shownSlots = 5;
const sameAsServer = 'SAME_AS_SERVER';

export interface MaintenancesParts {
  readonly context: Pick<Context, 'commit' | 'clock' | 'log'>;
  readonly store: MaintenanceStore;
  readonly teller: Pick<Teller, 'enqueue'>;
  /** Time zone of windows without their own. */
  readonly serverZone: () => string;
  /** Called with the monitors whose maintenance began or ended. */
  readonly covered: (monitors: readonly number[]) => void;
  /** Called when a window changed, began or ended. */
  readonly changed: () => void;
}

/** Manages maintenance windows: determines which monitors are covered and sends the notifications. */
export class Maintenances implements Disposable {
  readonly #parts: MaintenancesParts;
  readonly #all = new Map<number, StoredMaintenance>();
  /** Slots of the active windows. */
  #running = new Map<number, Slot>();
  #coveredIds: ReadonlySet<number> = new Set();
  #timer: Disposable | undefined;
  #latest: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(parts: MaintenancesParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    for (const stored of await this.#parts.store.all()) this.#all.set(stored.id, stored);
    this.#look();
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
    return [...this.#all.values()].map((stored) => this.#shown(stored));
  }

  /** Returns the windows of a status page that are active or begin within `withinMs`. */
  ofPage(page: number, withinMs: number): readonly Maintenance[] {
    const now = this.#parts.context.clock.now();
    return [...this.#all.values()]
      .filter(({ config }) => config.statusPages.includes(page))
      .filter((stored) => slotsFrom(this.#plan(stored), now, 1).some(({ start }) => start <= now + withinMs))
      .map((stored) => this.#shown(stored));
  }

  /** @throws Problem `uptime.unknown_maintenance` (404) */
  get(id: number): Maintenance {
    return this.#shown(this.#stored(id));
  }

  /** @throws Problem `uptime.invalid` (400) with fields */
  add(given: MaintenanceConfig): Promise<Maintenance> {
    requireFit(given);
    return this.#inTurn(async () => {
      const { context, store } = this.#parts;
      const since = context.clock.now();
      const id = await context.commit((transaction) => store.add(transaction, given, since));
      this.#all.set(id, { id, config: given, since, told: [] });
      this.#altered();
      return this.get(id);
    });
  }

  /** Changes the given fields. */
  change(id: number, given: Readonly<Record<string, unknown>>): Promise<Maintenance> {
    return this.#inTurn(async () => {
      const { context, store } = this.#parts;
      const stored = this.#stored(id);
      const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const parsed = MaintenanceConfig.safeParse({ ...stored.config, ...named });
      if (!parsed.success) throw invalid(parsed.error);
      requireFit(parsed.data);
      const resumed = parsed.data.active !== stored.config.active;
      const next = {
        ...stored,
        config: parsed.data,
        since: resumed || parsed.data.strategy !== stored.config.strategy ? context.clock.now() : stored.since,
      };
      await context.commit((transaction) => store.change(transaction, next));
      this.#all.set(id, next);
      this.#altered();
      return this.get(id);
    });
  }

  remove(id: number): Promise<void> {
    return this.#inTurn(async () => {
      this.#stored(id);
      const { context, store } = this.#parts;
      await context.commit((transaction) => store.remove(transaction, id));
      this.#all.delete(id);
      this.#altered();
    });
  }

  #stored(id: number): StoredMaintenance {
    const stored = this.#all.get(id);
    if (stored === undefined) throw new Problem('uptime.unknown_maintenance', 404, 'There is no such maintenance.');
    return stored;
  }

  #plan({ config, since }: StoredMaintenance): Plan {
    return { config, since, zone: this.#zone(config) };
  }

  #zone({ timezoneOption }: MaintenanceConfig): string {
    return timezoneOption === sameAsServer ? this.#parts.serverZone() : timezoneOption;
  }

  #altered(): void {
    this.#look();
    this.#parts.changed();
  }

  /** Determines the active windows, sends due notifications and sets the timer for the next change. */
  #look(): void {
    if (this.#closed) return;
    const { clock, log } = this.#parts.context;
    const now = clock.now();
    const running = new Map<number, Slot>();
    let next = now + longestWaitMs;
    const due: { readonly stored: StoredMaintenance; readonly events: readonly Announced[] }[] = [];
    for (const stored of this.#all.values()) {
      const plan = this.#plan(stored);
      const slot = slotAt(plan, now);
      if (slot !== undefined) running.set(stored.id, slot);
      for (const { start, end } of slotsFrom(plan, now, 2)) {
        const moments = [start, end, ...stored.config.reminders.map((seconds) => start - seconds * 1000)];
        for (const moment of moments) if (moment > now) next = Math.min(next, moment);
      }
      const events = announcements(stored, { before: this.#running.get(stored.id), running: slot, plan, now });
      if (events.length > 0) due.push({ stored, events });
    }
    const before = this.#coveredIds;
    const began = [...running].some(([id, { start }]) => this.#running.get(id)?.start !== start);
    const ended = [...this.#running.keys()].some((id) => !running.has(id));
    this.#running = running;
    this.#coveredIds = new Set([...running.keys()].flatMap((id) => this.#all.get(id)?.config.monitors ?? []));
    const turned = [...before, ...this.#coveredIds].filter((id) => before.has(id) !== this.#coveredIds.has(id));
    if (turned.length > 0) this.#parts.covered(turned);
    if (began || ended) this.#parts.changed();
    for (const { stored, events } of due) {
      void this.#tell(stored, events).catch((error: unknown) => log.error('maintenance was not told of', { error }));
    }
    this.#timer?.[Symbol.dispose]();
    this.#timer = clock.after(Math.max(1, next - now), () => this.#look());
  }

  #tell(given: StoredMaintenance, events: readonly Announced[]): Promise<void> {
    return this.#inTurn(async () => {
      const stored = this.#all.get(given.id) ?? given;
      const { context, store, teller } = this.#parts;
      const fresh = events.filter(({ key }) => !stored.told.includes(key));
      if (fresh.length === 0) return;
      const now = context.clock.now();
      const recent = (key: string): boolean => Number(key.split(':')[1]) > now - 7 * dayMs;
      const told = [...stored.told.filter(recent), ...fresh.flatMap(({ key, covers }) => [key, ...covers])];
      const next = { ...stored, told };
      await context.commit(async (transaction) => {
        if (this.#all.has(stored.id)) await store.change(transaction, next);
        const order = `maintenance:${String(stored.id)}`;
        for (const { event } of fresh) await teller.enqueue(transaction, event, { monitor: null, order, tag: null });
      });
      if (this.#all.has(stored.id)) this.#all.set(stored.id, next);
    });
  }

  #shown(stored: StoredMaintenance): Maintenance {
    const { id, config } = stored;
    const plan = this.#plan(stored);
    const now = this.#parts.context.clock.now();
    const upcoming = slotsFrom(plan, now, shownSlots).map(({ start, end }) => ({
      startDate: new Date(start).toISOString(),
      endDate: Number.isFinite(end) ? new Date(end).toISOString() : null,
    }));
    const duration = durationOf(config);
    const [first, last] = config.dateRange;
    // Uptime Kuma lists the current and the next slot, and none before the date range begins.
    const began = first === undefined || `${new Date(now).toISOString().slice(0, 10)}` >= first.slice(0, 10);
    const recurring = config.strategy !== 'manual' && config.strategy !== 'single';
    return {
      ...config,
      id,
      cron: cronOf(config),
      duration,
      durationMinutes: duration === null ? config.durationMinutes : Math.floor(duration / 60),
      timezone: plan.zone,
      timezoneOffset: offsetText(now, plan.zone),
      status: statusOf(plan, now),
      timeslotList:
        config.strategy === 'single' && first !== undefined && last !== undefined
          ? [{ startDate: first, endDate: last }]
          : recurring && began
            ? upcoming.slice(0, 2)
            : [],
      upcoming,
    };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#latest.then(work, work);
    this.#latest = turn.catch(() => undefined);
    return turn;
  }
}

interface Announced {
  readonly key: string;
  /** Longer reminders that this one replaces. */
  readonly covers: readonly string[];
  readonly event: UptimeEvent;
}

/** Returns the due announcements. The shortest due reminder replaces the longer ones. */
function announcements(
  stored: StoredMaintenance,
  {
    before,
    running,
    plan,
    now,
  }: {
    readonly before: Slot | undefined;
    readonly running: Slot | undefined;
    readonly plan: Plan;
    readonly now: number;
  },
): readonly Announced[] {
  const { id, config, told } = stored;
  const { title, description, monitors: monitorIds, reminders, notifyStart, notifyEnd } = config;
  const announced: Announced[] = [];
  const say = (kind: WindowMoment, slot: Slot, seconds?: number, covers: readonly string[] = []): void => {
    const key = keyOf(kind, slot.start, seconds);
    if (told.includes(key)) return;
    announced.push({
      key,
      covers,
      event: windowEvent({ id, title, description, monitorIds, zone: plan.zone, ...slot }, kind, now, seconds),
    });
  };
  const over = before !== undefined && before.start !== running?.start ? before : undefined;
  if (notifyEnd && over !== undefined) say('maintenance_ended', over);
  if (notifyStart && running !== undefined) say('maintenance_started', running);
  if (config.strategy === 'manual') return announced;
  for (const slot of slotsFrom(plan, now, 2)) {
    if (slot.start <= now) continue;
    const due = reminders.filter((seconds) => slot.start - seconds * 1000 <= now).toSorted((a, b) => a - b);
    const [shortest, ...longer] = due;
    if (shortest !== undefined)
      say(
        'maintenance_reminder',
        slot,
        shortest,
        longer.map((one) => keyOf('maintenance_reminder', slot.start, one)),
      );
  }
  return announced;
}

function keyOf(kind: WindowMoment, start: number, seconds: number | undefined): string {
  return `${kind}:${String(start)}${seconds === undefined ? '' : `:${String(seconds)}`}`;
}

function requireFit(config: MaintenanceConfig): void {
  const { timezoneOption: zone } = config;
  const fields: Record<string, string> = windowTrouble(config);
  if (zone !== sameAsServer && !isZone(zone))
    fields['timezoneOption'] = 'Use the name of a time zone, such as Europe/Berlin.';
  const [first] = Object.entries(fields);
  if (first !== undefined) throw new Problem('uptime.invalid', 400, first[1], { fields });
}

function invalid(error: z.ZodError): Problem {
  const fields = Object.fromEntries(error.issues.map(({ path, message }) => [path.join('.'), message]));
  return new Problem('uptime.invalid', 400, z.prettifyError(error), { fields });
}
