import { pushApi, type PushUpload, type WrittenAction } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { upload } from '../../api/upload.ts';
import { formatBytes } from '../../parts/text/format.ts';
import { push } from './topics.svelte.ts';
import type { priorities } from './topic-names.ts';
import { suggestedPriority } from './topic-names.ts';

type PriorityKey = (typeof priorities)[number][0];

/** A button that is being written. */
export type ButtonDraft = { -readonly [Name in keyof WrittenAction]: WrittenAction[Name] };

/** A message that is being written, with its file on the way. */
export class Draft {
  topic = $state('');
  title = $state('');
  message = $state('');
  tags = $state('');
  click = $state('');
  delay = $state('');
  markdown = $state(false);
  attach = $state('');
  filename = $state('');
  file = $state.raw<File | null>(null);
  buttons = $state<ButtonDraft[]>([]);
  /** How much of the file has arrived, from 0 to 1; null while none is sent. */
  sending = $state<number | null>(null);
  limits = $state.raw({ message: 4096, file: 0, fileSeconds: 0, delaySeconds: 0 });
  /** Chosen by hand; before that the topic's severity suggests one. */
  #chosen = $state<PriorityKey | null>(null);
  #uploaded: { readonly file: File; readonly upload: PushUpload } | null = null;
  #stop = new AbortController();

  get priority(): PriorityKey {
    return this.#chosen ?? suggestedPriority(this.topic.trim());
  }

  set priority(key: PriorityKey) {
    this.#chosen = key;
  }

  get suggested(): boolean {
    return this.#chosen === null && suggestedPriority(this.topic.trim()) !== '3';
  }

  /** What is written, as it is sent and as curl would. */
  readonly written = $derived.by(() => ({
    topic: this.topic.trim(),
    title: this.title,
    message: this.message,
    markdown: this.markdown,
    click: this.click.trim(),
    delay: this.delay.trim(),
    priority: Number(this.priority),
    attach: this.attach.trim(),
    filename: this.filename.trim(),
    file: this.file?.name ?? '',
    tags: this.tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    actions: this.buttons.map((button): WrittenAction => ({
      ...button,
      label: button.label.trim(),
      url: button.url.trim(),
    })),
  }));

  async load(): Promise<void> {
    this.limits = await call(pushApi.limits);
  }

  /** Takes a file unless it is too large; answers why not. */
  take(file: File): string {
    const most = this.limits.file;
    if (most === 0) return 'Files are switched off in the settings.';
    if (file.size > most) return `${file.name} has ${formatBytes(file.size)}. Files may have ${formatBytes(most)}.`;
    this.file = file;
    this.filename = '';
    this.attach = '';
    return '';
  }

  /** Uploads the file, then publishes. Answers when it is delivered, in ms. @throws Problem with `fields`. */
  async send(): Promise<number> {
    const { written } = this;
    const file = this.file === null ? undefined : await this.#upload(this.file, written.topic);
    const time = await push.publish({ ...written, file });
    this.clear();
    return time;
  }

  /** Stops the upload that is on its way. */
  stop(): void {
    this.#stop.abort();
  }

  clear(): void {
    [this.title, this.message, this.tags, this.click, this.delay, this.attach, this.filename] = [
      '',
      '',
      '',
      '',
      '',
      '',
      '',
    ];
    this.file = null;
    this.buttons = [];
    this.markdown = false;
    this.#chosen = null;
    this.#uploaded = null;
  }

  async #upload(file: File, topic: string): Promise<string> {
    // A field that did not fit does not send the file twice.
    if (this.#uploaded?.file === file) return this.#uploaded.upload.id;
    this.#stop = new AbortController();
    this.sending = 0;
    try {
      const done = await upload(pushApi.upload, file, {
        params: { topic },
        query: { name: file.name },
        progress: (part) => (this.sending = part),
        signal: this.#stop.signal,
      });
      this.#uploaded = { file, upload: done };
      return done.id;
    } finally {
      this.sending = null;
    }
  }
}
