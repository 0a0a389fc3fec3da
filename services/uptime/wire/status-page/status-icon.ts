import type { PageStatus } from '../../../contracts/uptime/page-status.ts';

const strokes: Readonly<Record<PageStatus, string>> = {
  up: '<path d="m7.5 12.5 3 3 6-7"/>',
  partial: '<path d="M12 7.5v5.5m0 3v.5"/>',
  down: '<path d="m8.5 8.5 7 7m0-7-7 7"/>',
  maintenance: '<path d="M12 11v5.5m0-9v.5"/>',
  none: '<path d="M8 12h8"/>',
};

/** Renders the status icon, so that the status is not conveyed by color alone. */
export function renderStatusIcon(status: PageStatus): string {
  return (
    '<svg viewBox="0 0 24 24" width="28" height="28" fill="none" stroke-width="2.25" ' +
    'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="12" cy="12" r="11" ' +
    `stroke="none" fill="currentColor"/><g stroke="var(--card)">${strokes[status]}</g></svg>`
  );
}

/** Returns the icon of the browser tab as a data address. */
export function favicon(status: PageStatus): string {
  const colour = { up: '1a7f47', partial: 'b7791f', down: 'c22a1c', maintenance: '2456c8', none: '5b6472' }[status];
  const svg = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='7' fill='#${colour}'/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
