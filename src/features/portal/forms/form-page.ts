/**
 * Pages with one form; one without fields confirms an action. A page declares its fields once; the
 * HTML, the error summary, the status and the fields of its draft are derived from them.
 */
import type { Reply } from '../../../http/response/reply.ts';
import { type Content, html } from '../html/html.ts';
import { renderPage } from '../html/page.ts';
import type {
  AnonymousPageRequest, DraftRoute, PageRequest, Portal, Show, Submit,
} from '../route.ts';
import { confirmPassword, CURRENT_PASSWORD, passkeyButton } from '../sign-in/password-fields.ts';
import { type Field, postForm, renderFields } from './fields.ts';
import {
  type Form, type FormState, initialState, NO_ERRORS, rejectedState, type Values,
} from './form.ts';

interface FormPage {
  readonly title: string;
  /** The path that the form is posted to, below `/portal`. */
  readonly action: string;
  readonly fields: readonly Field[];
  /** The button's label. */
  readonly submit: string;
  /** Whether a passkey confirms it, and no password. */
  readonly isPasskeyOnly?: boolean | undefined;
  readonly isDestructive?: boolean;
  /** The target of the Cancel link, below `/portal`. */
  readonly cancel?: string;
  readonly before?: Content;
  /** Hidden fields. */
  readonly hidden?: Content;
  readonly after?: Content;
  /** Names of assets. */
  readonly scripts?: readonly string[];
}

/** Renders a form page, with the navigation if the user is signed in. */
export function renderFormPage(
  request: AnonymousPageRequest | PageRequest, portal: Portal, page: FormPage, state: FormState,
): Reply {
  const { action, isPasskeyOnly, hidden, submit, cancel, before, after, title } = page;
  const { fields, scripts = [] } = page;
  const { link } = request;
  const others = fields.filter(({ name }) => name !== CURRENT_PASSWORD.name);
  const withPasskey = others.length < fields.length
    ? passkeyButton(request, isPasskeyOnly ? submit : undefined) : undefined;
  const button = isPasskeyOnly ? withPasskey
    : html`<button class="${page.isDestructive ? 'danger' : 'primary'}">${submit}</button>`;
  const form = postForm(request, link(action), html`${hidden}
    ${renderFields(isPasskeyOnly ? others : fields, state)}
    ${isPasskeyOnly ? undefined : withPasskey}
    ${cancel === undefined ? button : html`
      <div class="actions">${button}
        <a class="button" href="${link(cancel)}">Cancel</a></div>`}`,
  'account' in request ? 'card stack' : 'stack');
  return renderPage(request, portal, {
    title, state, fields, content: html`${before}${form}${after}`,
    scripts: withPasskey ? [...scripts, 'passkey.js'] : scripts,
  });
}

/** A request with what the form is about. */
type FormRequest<Subject> = PageRequest & { readonly subject: Subject };

interface FormDefinition<Value, Subject> {
  /** Finds what the form is about, such as the key in the path. May throw `not_found`. */
  readonly find?: (request: PageRequest, portal: Portal) => Subject | Promise<Subject>;
  /** A draft keeps these fields; the page may render them with more detail. */
  readonly fields: readonly Field[];
  readonly render: (
    request: FormRequest<Subject>, portal: Portal, state: FormState,
  ) => Reply | Promise<Reply>;
  /** Whether a passkey must confirm it: a password is not enough. Default: never. */
  readonly needsPasskey?: (request: PageRequest) => boolean;
  /** Initial values. Default: those of the fields. */
  readonly initial?: (request: FormRequest<Subject>) => Values;
  /**
   * Parses the fields. Adds an error for each invalid one, or throws the API's errors. Default:
   * there is nothing to parse.
   */
  readonly read?: (
    form: Form, errors: Map<string, string>, request: PageRequest, portal: Portal,
  ) => Value | undefined;
  /** Called if all fields are valid. Returns undefined if it added errors itself. */
  readonly save: (
    value: Value, request: FormRequest<Subject>, portal: Portal,
    state: { readonly form: Form; readonly errors: Map<string, string> },
  ) => Promise<Reply | undefined>;
}

export interface FormHandlers {
  readonly show: Show;
  readonly submit: Submit;
  readonly draft?: DraftRoute;
}

/**
 * Creates a form's handlers: page, submission and draft. If the form has the field
 * `CURRENT_PASSWORD`, saving requires the correct password. An invalid form is shown again with its
 * errors. A draft shows it again after a new sign-in, with every value except passwords.
 */
export function defineForm<Value, Subject = undefined>(
  { fields, find, needsPasskey, render, initial, read, save }: FormDefinition<Value, Subject>,
): FormHandlers {
  const needsPassword = fields.some(({ name }) => name === CURRENT_PASSWORD.name);
  const withSubject = async (
    request: PageRequest, portal: Portal,
  ): Promise<FormRequest<Subject>> =>
    // The cast: without `find`, the form is about nothing.
    ({ ...request, subject: await find?.(request, portal) as Subject });
  return {
    async show(pageRequest, portal) {
      const request = await withSubject(pageRequest, portal);
      return render(request, portal, initialState(initial?.(request)));
    },
    async submit(pageRequest, portal, form) {
      const request = await withSubject(pageRequest, portal);
      const errors = new Map<string, string>();
      const state = { form, errors };
      try {
        // The cast: there is a value unless there are errors.
        const value = read?.(form, errors, request, portal) as Value;
        if (needsPassword) {
          await confirmPassword(request, portal, form, errors, needsPasskey?.(request));
        }
        const reply = errors.size > 0 ? undefined : await save(value, request, portal, state);
        if (reply) return reply;
      } catch (error) {
        const rejected = rejectedState(form, error);
        return render(request, portal, {
          ...rejected, errors: new Map([...rejected.errors, ...errors]),
        });
      }
      return render(request, portal, state);
    },
    draft: {
      fields: fields.filter((field) => !('type' in field && field.type === 'password'))
        .map(({ name }) => name),
      show: async (request, portal, form) =>
        render(await withSubject(request, portal), portal, { form, errors: NO_ERRORS }),
    },
  };
}

interface FormPageDefinition<Value, Subject>
  extends Omit<FormDefinition<Value, Subject>, 'render'> {
  /** What else the page shows; `fields`, to render them with more detail. */
  readonly page: (
    request: FormRequest<Subject>, portal: Portal, state: FormState,
  ) => OwnPage | Promise<OwnPage>;
}

type OwnPage = Omit<FormPage, 'action' | 'fields'> & Partial<Pick<FormPage, 'fields'>>;

/** Creates the handlers of a form that is all of its page, which has the path of its submission. */
export function defineFormPage<Value = undefined, Subject = undefined>(
  { page, ...definition }: FormPageDefinition<Value, Subject>,
): FormHandlers {
  return defineForm({
    ...definition,
    render: async (request, portal, state) => renderFormPage(request, portal, {
      action: request.path, fields: definition.fields,
      isPasskeyOnly: definition.needsPasskey?.(request), ...await page(request, portal, state),
    }, state),
  });
}
