import type { Maintenance } from '../../contracts/uptime/maintenance.ts';

/** A window as the peer's clients read it; whom it covers is asked for by itself. */
export function peerMaintenance(given: Maintenance): Record<string, unknown> {
  const {
    id,
    title,
    description,
    strategy,
    intervalDay,
    active,
    dateRange,
    timeRange,
    weekdays,
    daysOfMonth,
    timeslotList,
    cron,
    duration,
    durationMinutes,
    timezone,
    timezoneOption,
    timezoneOffset,
    status,
  } = given;
  return {
    ...{ id, title, description, strategy, intervalDay, active, dateRange, timeRange, weekdays, daysOfMonth },
    ...{ timeslotList, cron, duration, durationMinutes, timezone, timezoneOption, timezoneOffset, status },
  };
}
