import * as m from '#messages/uptime-texts';

/** Formats a time as clients of Uptime Kuma expect it: `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
export function formatKumaTime(timestamp: number): string {
  return new Date(timestamp).toISOString().replace('T', ' ').replace('Z', '');
}

/** Formats a duration with its two largest units: "3 d", "1 h 5 min", "40 s". */
export function formatDuration(ms: number): string {
  const total = Math.max(0, Math.round(ms / 1000));
  const days = Math.floor(total / 86_400);
  const hours = Math.floor(total / 3600) % 24;
  const minutes = Math.floor(total / 60) % 60;
  const seconds = total % 60;
  if (days > 0) return hours === 0 ? m.durationDays({ days }) : m.durationDaysHours({ days, hours });
  if (hours > 0) return minutes === 0 ? m.durationHours({ hours }) : m.durationHoursMinutes({ hours, minutes });
  if (minutes === 0) return m.durationSeconds({ seconds });
  return seconds === 0 ? m.durationMinutes({ minutes }) : m.durationMinutesSeconds({ minutes, seconds });
}
