/**
 * Sends requests without a valid session to the sign-in, and from there to the requested page. A
 * submitted form has no effect: after the sign-in it is shown again, with what was typed.
 */
import { AppError } from '../../../domain/error.ts';
import type { Reply } from '../../../http/response/reply.ts';
import type { Router } from '../../../http/router.ts';
import { encryptDraft, readSeller } from './draft.ts';
import { readForm } from './form.ts';
import { redirect } from '../html/page.ts';
import type { DraftRoute, AnonymousPageRequest, PageRoute, Portal } from '../route.ts';
import { renderSignInAgain } from '../sign-in/sign-in-forms.ts';

/** `to` is the page after the sign-in. */
export function redirectToSignIn({ link }: AnonymousPageRequest, to = '/'): Reply {
  const query = to === '' || to === '/' ? '' : `?${new URLSearchParams({ to })}`;
  return redirect(link(`/sign-in${query}`));
}

/** A file is not kept through the sign-in: the page of the upload says so afterwards. */
export function redirectFromUpload(request: AnonymousPageRequest): Reply {
  const isFile = request.headers['content-type']?.startsWith('multipart/form-data') === true;
  return redirectToSignIn(request, isFile ? `${request.path}?done=ended` : '/');
}

/** Answers a form whose session has ended with the sign-in, which carries its draft. */
export async function keepDraft(
  request: AnonymousPageRequest, portal: Portal, router: Router<PageRoute>,
  draftRoute: DraftRoute | undefined,
): Promise<Reply> {
  const form = await readForm(request.incoming);
  const sellerId = readSeller(form);
  if (sellerId === undefined) return redirectToSignIn(request);
  const to = findShown(router, request.path);
  if (!draftRoute) return redirectToSignIn(request, to);
  const draft = await encryptDraft(request, portal, { sellerId, draftRoute, form });
  return renderSignInAgain(request, portal, { to, draft });
}

/** The page of a form: of its own path, or of the nearest one above that has a page. */
function findShown(router: Router<PageRoute>, path: string): string {
  try {
    router.find('GET', path);
    return path;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return findShown(router, path.slice(0, path.lastIndexOf('/')) || '/');
  }
}
