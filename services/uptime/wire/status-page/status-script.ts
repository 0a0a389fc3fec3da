import { createHash } from 'node:crypto';

/**
 * The only script of a status page: shows times by the clock of the visitor, and updates the content in place, which
 * keeps the position, the focus and typed text. `data-refresh` of the document is the interval in seconds.
 */
export const statusScript = `'use strict';
(() => {
  // The language is that of the page; 12 or 24 hours are the visitor's habit.
  const { hourCycle } = new Intl.DateTimeFormat(navigator.language, { hour: 'numeric' }).resolvedOptions();
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    weekday: 'short', month: 'short', day: 'numeric', hour: hourCycle === 'h23' ? '2-digit' : 'numeric',
    minute: '2-digit', hourCycle, timeZoneName: 'short',
  });
  const localizeTimes = (page) => {
    for (const time of page.querySelectorAll('time[datetime]')) {
      time.title = time.textContent;
      time.textContent = format.format(new Date(time.dateTime));
    }
  };
  localizeTimes(document);
  const interval = Number(document.documentElement.dataset.refresh) * 1000;
  if (!(interval > 0)) return;
  let updatedAt = Date.now();
  const isInUse = (element) =>
    element.contains(document.activeElement) || [...element.querySelectorAll('input')].some(({ value }) => value !== '');
  // Keeps the form that a visitor is using in place, because a moved element loses the focus.
  const replaceParts = (current, next) => {
    const form = [...current.children].find((part) => part.querySelector('form') && isInUse(part));
    const parts = [...next.children];
    const index = parts.findIndex((part) => part.querySelector('form'));
    if (form === undefined || index < 0) return current.replaceChildren(...parts);
    for (const part of [...current.children]) if (part !== form) part.remove();
    form.before(...parts.slice(0, index));
    form.after(...parts.slice(index + 1));
  };
  const apply = (page) => {
    document.title = page.title;
    document.querySelector('link[rel=icon]').href = page.querySelector('link[rel=icon]').href;
    const [current, next] = [document.querySelector('main'), page.querySelector('main')];
    const hasSameParts =
      current.children.length === next.children.length &&
      [...current.children].every(({ tagName }, index) => tagName === next.children[index].tagName);
    if (!hasSameParts) return replaceParts(current, next);
    [...current.children].forEach((part, index) => {
      const replacement = next.children[index];
      if (part.outerHTML === replacement.outerHTML || (part.querySelector('form') && isInUse(part))) return;
      part.className = replacement.className;
      part.replaceChildren(...replacement.childNodes);
    });
  };
  const update = async () => {
    updatedAt = Date.now();
    try {
      const response = await fetch(location.href, { cache: 'no-store' });
      if (!response.ok) return;
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      localizeTimes(page);
      apply(page);
    } catch {
      // The next update may succeed.
    }
  };
  setInterval(() => {
    if (!document.hidden) void update();
  }, interval);
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && Date.now() - updatedAt >= interval) void update();
  });
})();
`;

/** Source of the script in the Content-Security-Policy. */
export const statusScriptSource = `'sha256-${createHash('sha256').update(statusScript).digest('base64')}'`;
