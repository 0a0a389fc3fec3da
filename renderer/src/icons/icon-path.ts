import { mount, unmount } from 'svelte';
import { icons, type IconName } from './icons.ts';

const paths = new Map<IconName, string>();

/**
 * Returns the shapes of an icon as the data of a single SVG path. Rows of long lists have several icons: the components
 * of the library and one element for each shape would take most of the time of a row.
 */
export function getIconPath(name: IconName): string {
  const cached = paths.get(name);
  if (cached !== undefined) return cached;
  const target = document.createElement('div');
  const icon = mount(icons[name], { target });
  const path = [...(target.querySelector('svg')?.children ?? [])].map(toPath).join('');
  void unmount(icon);
  paths.set(name, path);
  return path;
}

/** Converts a shape of the icon library to path data that can follow other path data. */
function toPath(shape: Element): string {
  const read = (attribute: string): number => Number(shape.getAttribute(attribute) ?? 0);
  switch (shape.localName) {
    case 'path':
      // Data may begin with a relative position, which would be relative to the end of the shape before.
      return `M0 0${shape.getAttribute('d') ?? ''}`;
    case 'line':
      return `M${join(read('x1'), read('y1'))}L${join(read('x2'), read('y2'))}`;
    case 'polyline':
      return `M${shape.getAttribute('points') ?? ''}`;
    case 'circle':
      return drawEllipse(read('cx'), read('cy'), read('r'), read('r'));
    case 'ellipse':
      return drawEllipse(read('cx'), read('cy'), read('rx'), read('ry'));
    case 'rect':
      return drawRectangle(read('x'), read('y'), read('width'), read('height'), read('rx'));
    default:
      throw new Error(`icon shape <${shape.localName}> has no path`);
  }
}

function drawEllipse(centerX: number, centerY: number, radiusX: number, radiusY: number): string {
  const half = (direction: number): string => `a${join(radiusX, radiusY)} 0 0 1 ${join(direction * 2 * radiusX, 0)}`;
  return `M${join(centerX - radiusX, centerY)}${half(1)}${half(-1)}z`;
}

/** Draws a rectangle with rounded corners. */
function drawRectangle(x: number, y: number, width: number, height: number, radius: number): string {
  const corner = (byX: number, byY: number): string => `a${join(radius, radius)} 0 0 1 ${join(byX, byY)}`;
  const [across, down] = [width - 2 * radius, height - 2 * radius];
  return (
    `M${join(x + radius, y)}h${String(across)}${corner(radius, radius)}v${String(down)}${corner(-radius, radius)}` +
    `h${String(-across)}${corner(-radius, -radius)}v${String(-down)}${corner(radius, -radius)}z`
  );
}

function join(x: number, y: number): string {
  return `${String(x)} ${String(y)}`;
}
