import { mount, unmount } from 'svelte';
import { icons, type IconName } from './icons.ts';

const markups = new Map<IconName, string>();

/**
 * Returns the shapes of an icon as SVG. Each icon is rendered once by its component, because rows of long lists have
 * several icons and three components for each of them would take most of the time of a row.
 */
export function getIconMarkup(name: IconName): string {
  const cached = markups.get(name);
  if (cached !== undefined) return cached;
  const target = document.createElement('div');
  const icon = mount(icons[name], { target });
  // The comments mark the positions of Svelte's blocks.
  const markup = (target.querySelector('svg')?.innerHTML ?? '').replaceAll(/<!--.*?-->/g, '');
  void unmount(icon);
  markups.set(name, markup);
  return markup;
}
