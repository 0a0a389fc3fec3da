import { createHash } from 'node:crypto';

/**
 * Marks the lines of a range such as `#L10-L20`, for which no element exists, and scrolls to them. Shows the buttons
 * that copy a text where the browser allows it, which is only over HTTPS and on the same computer. It is the only script
 * of the visitor pages; the content security policy allows it by its hash.
 */
export const pageScript = `
if (navigator.clipboard !== undefined) for (const button of document.querySelectorAll('button[data-copy]')) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
addEventListener('hashchange', mark);
mark();
function mark() {
  for (const row of document.querySelectorAll('tr.marked')) row.classList.remove('marked');
  const match = /^#L([1-9][0-9]{0,8})-L?([1-9][0-9]{0,8})$/.exec(location.hash);
  if (match === null) return;
  const [first, last] = [Number(match[1]), Number(match[2])].sort((one, other) => one - other);
  for (const row of document.querySelectorAll('.code tr[id]')) {
    const line = Number(row.id.slice(1));
    if (line >= first && line <= last) row.classList.add('marked');
  }
  document.querySelector('tr.marked')?.scrollIntoView({ block: 'center' });
}`;

/** The source expression that allows the script in a content security policy. */
export const pageScriptSource = `'sha256-${createHash('sha256').update(pageScript).digest('base64')}'`;
