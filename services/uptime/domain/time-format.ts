/** Formats a time as clients of Uptime Kuma expect it: `YYYY-MM-DD HH:MM:SS.mmm` in UTC. */
export function formatKumaTime(timestamp: number): string {
  return new Date(timestamp).toISOString().replace('T', ' ').replace('Z', '');
}

/** Formats a duration with its two largest units: "3 d", "1 h 5 min", "40 s". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${String(count)} ${unit}`)
    .join(' ');
}
