import type { Maintenance } from '../../../../services/contracts/uptime/maintenance.ts';
import { planWords } from './maintenance-draft.ts';

const thisYear: Intl.DateTimeFormatOptions = { weekday: 'short', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }; // prettier-ignore
const near = new Intl.DateTimeFormat('en', thisYear);
const far = new Intl.DateTimeFormat('en', { ...thisYear, year: 'numeric' });

/** By which rule a window comes, and when next: `Once · next Thu, Nov 26, 02:00 – 04:00`; that of today's year goes without it. */
export function windowWords(window: Maintenance, now: number): string {
  return [planWords(window), slotWords(window, now)].filter((part) => part !== '').join(' · ');
}

function slotWords({ status, upcoming: [slot] }: Maintenance, now: number): string {
  if (slot === undefined) return '';
  const start = new Date(slot.startDate);
  const end = slot.endDate === null ? undefined : new Date(slot.endDate);
  const format = [start, end ?? start].every((time) => time.getFullYear() === new Date(now).getFullYear()) ? near : far;
  if (status === 'under-maintenance')
    return end === undefined ? `since ${format.format(start)}` : `until ${format.format(end)}`;
  return end === undefined ? `from ${format.format(start)}` : `next ${format.formatRange(start, end)}`;
}
