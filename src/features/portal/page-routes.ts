/** What a part of the portal is, and the kinds of its routes: who may open a page, and how. */
import type { Role } from '../../domain/access/account.ts';
import type { FilteredList } from '../../store/account-store.ts';
import type { Field } from './forms/fields.ts';
import type { FormHandlers } from './forms/form-page.ts';
import type { Addition, PageRequest, PageRoute } from './route.ts';

/** The pages of a feature or of the portal itself, and what they add to pages of others. */
export interface PortalPart extends Addition {
  readonly routes: readonly PageRoute[];
  /** The fields of each list whose filters can be saved. */
  readonly filters?: Partial<Record<FilteredList, (request: PageRequest) => readonly Field[]>>;
}

export const publicGet = { method: 'GET', access: 'public' } as const;
export const publicPost = { method: 'POST', access: 'public' } as const;
export const viewerGet = { method: 'GET', access: 'signed-in', role: 'viewer' } as const;
export const viewerPost = { method: 'POST', access: 'signed-in', role: 'viewer' } as const;
export const editorGet = { method: 'GET', access: 'signed-in', role: 'editor' } as const;
export const editorPost = { method: 'POST', access: 'signed-in', role: 'editor' } as const;
export const ownerGet = { method: 'GET', access: 'signed-in', role: 'owner' } as const;
export const ownerPost = { method: 'POST', access: 'signed-in', role: 'owner' } as const;

/** The submission of a form; without a draft if its fields are secrets. */
export function submission(
  role: Role, path: string, { submit, draft }: Omit<FormHandlers, 'show'>,
): PageRoute {
  const hasDraft = draft !== undefined && draft.fields.length > 0;
  return {
    path, access: 'signed-in', role, method: 'POST', handle: submit, ...(hasDraft && { draft }),
  };
}

/** A form's page and its submission. */
export function formRoutes(role: Role, path: string, form: FormHandlers): readonly PageRoute[] {
  return [
    { path, access: 'signed-in', role, method: 'GET', handle: form.show },
    submission(role, path, form),
  ];
}
