import type { Maintenance } from '../../contracts/uptime/maintenance.ts';

/** Converts a maintenance window into the form of Uptime Kuma, without its monitors. */
export function toKumaMaintenance(maintenance: Maintenance): Record<string, unknown> {
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
  } = maintenance;
  return {
    ...{ id, title, description, strategy, intervalDay, active, dateRange, timeRange, weekdays, daysOfMonth },
    ...{ timeslotList, cron, duration, durationMinutes, timezone, timezoneOption, timezoneOffset, status },
  };
}
