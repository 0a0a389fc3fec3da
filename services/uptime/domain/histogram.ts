/** Histogram of response times with bins of equal ratio, so that a day of any monitor needs little space. */
export type Spread = Uint32Array;

/** Upper bound of the first bin, in milliseconds. */
const least = 0.5;
/** Ratio between the upper bounds of neighboring bins. */
const ratio = 1.08;
const bins = 160;
const step = Math.log(ratio);

export function emptySpread(): Spread {
  return new Uint32Array(bins);
}

export function count(spread: Spread, ping: number, times = 1): void {
  const bin = binOf(ping);
  spread[bin] = (spread[bin] ?? 0) + times;
}

export function addSpread(into: Spread, from: Spread): void {
  for (let bin = 0; bin < bins; bin += 1) into[bin] = (into[bin] ?? 0) + (from[bin] ?? 0);
}

export function total(spread: Spread): number {
  let sum = 0;
  for (const times of spread) sum += times;
  return sum;
}

/** Returns the response time below which a share of the values lies; 0 without values. */
export function quantile(spread: Spread, share: number): number {
  const wanted = total(spread) * share;
  let sum = 0;
  for (const [bin, times] of spread.entries()) {
    sum += times;
    if (times > 0 && sum >= wanted) return middleOf(bin);
  }
  return 0;
}

/** Returns the median absolute deviation from a center. */
export function medianDistance(spread: Spread, centre: number): number {
  const distances = [...spread.entries()]
    .filter(([, times]) => times > 0)
    .map(([bin, times]) => ({ distance: Math.abs(middleOf(bin) - centre), times }))
    .sort((a, b) => a.distance - b.distance);
  const half = total(spread) / 2;
  let sum = 0;
  for (const { distance, times } of distances) {
    sum += times;
    if (sum >= half) return distance;
  }
  return 0;
}

/** Formats the non-empty bins as `bin:count`, in base 36. */
export function spreadText(spread: Spread): string {
  return [...spread.entries()]
    .filter(([, times]) => times > 0)
    .map(([bin, times]) => `${bin.toString(36)}:${times.toString(36)}`)
    .join(' ');
}

export function readSpread(text: string): Spread {
  const spread = emptySpread();
  for (const part of text.split(' ')) {
    const [bin = '', times = ''] = part.split(':');
    const at = Number.parseInt(bin, 36);
    if (at >= 0 && at < bins) spread[at] = Number.parseInt(times, 36) || 0;
  }
  return spread;
}

function binOf(ping: number): number {
  if (ping <= least) return 0;
  return Math.min(bins - 1, Math.ceil(Math.log(ping / least) / step));
}

function middleOf(bin: number): number {
  return bin === 0 ? least / 2 : least * ratio ** (bin - 0.5);
}
