/** Histogram of response times with bins of equal ratio, so that a day of any monitor needs little space. */
export type Histogram = Uint32Array;

/** Upper bound of the first bin, in milliseconds. */
const minValueMs = 0.5;
/** Ratio between the upper bounds of neighboring bins. */
const binRatio = 1.08;
const binCount = 160;
const logBinRatio = Math.log(binRatio);

export function createHistogram(): Histogram {
  return new Uint32Array(binCount);
}

export function recordValue(histogram: Histogram, ping: number, times = 1): void {
  const bin = getBin(ping);
  histogram[bin] = (histogram[bin] ?? 0) + times;
}

export function addHistogram(into: Histogram, from: Histogram): void {
  for (let bin = 0; bin < binCount; bin += 1) into[bin] = (into[bin] ?? 0) + (from[bin] ?? 0);
}

export function countValues(histogram: Histogram): number {
  let sum = 0;
  for (const times of histogram) sum += times;
  return sum;
}

/** Returns the response time below which a share of the values lies; 0 without values. */
export function quantile(histogram: Histogram, share: number): number {
  const targetCount = countValues(histogram) * share;
  let sum = 0;
  for (const [bin, times] of histogram.entries()) {
    sum += times;
    if (times > 0 && sum >= targetCount) return getBinCenter(bin);
  }
  return 0;
}

/** Returns the median absolute deviation from a center. */
export function medianDistance(histogram: Histogram, center: number): number {
  const distances = [...histogram.entries()]
    .filter(([, times]) => times > 0)
    .map(([bin, times]) => ({ distance: Math.abs(getBinCenter(bin) - center), times }))
    .sort((a, b) => a.distance - b.distance);
  const half = countValues(histogram) / 2;
  let sum = 0;
  for (const { distance, times } of distances) {
    sum += times;
    if (sum >= half) return distance;
  }
  return 0;
}

/** Formats the non-empty bins as `bin:count`, in base 36. */
export function formatHistogram(histogram: Histogram): string {
  return [...histogram.entries()]
    .filter(([, times]) => times > 0)
    .map(([bin, times]) => `${bin.toString(36)}:${times.toString(36)}`)
    .join(' ');
}

export function parseHistogram(text: string): Histogram {
  const histogram = createHistogram();
  for (const part of text.split(' ')) {
    const [bin = '', times = ''] = part.split(':');
    const index = Number.parseInt(bin, 36);
    if (index >= 0 && index < binCount) histogram[index] = Number.parseInt(times, 36) || 0;
  }
  return histogram;
}

function getBin(ping: number): number {
  if (ping <= minValueMs) return 0;
  return Math.min(binCount - 1, Math.ceil(Math.log(ping / minValueMs) / logBinRatio));
}

function getBinCenter(bin: number): number {
  return bin === 0 ? minValueMs / 2 : minValueMs * binRatio ** (bin - 0.5);
}
