/** Path of a badge below its monitor: the kind, and the hours where it covers a period. */
export type BadgeKind = 'status' | 'uptime/24' | 'uptime/720' | 'avg-response/24' | 'cert-exp';
export type BadgeStyle = 'flat' | 'flat-square' | 'plastic' | 'for-the-badge';

interface Badge {
  /** ID of the monitor. */
  readonly monitor: string;
  readonly kind: BadgeKind;
  readonly style: BadgeStyle;
  /** Empty for the usual label. */
  readonly label: string;
}

/** Builds the address of a badge. Options that have the default value are omitted. */
export function buildBadgeUrl(address: string, { monitor, kind, style, label }: Badge): string {
  const query = new URLSearchParams();
  if (style !== 'flat') query.set('style', style);
  if (label.trim() !== '') query.set('label', label.trim());
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return `${address}/api/badge/${monitor}/${kind}${search}`;
}
