import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ChangedMember, Invitation, MemberSubject, MemberView, RoleChange } from '../../contracts/access.js';
import { Caller, type Principal } from '../common/caller.js';
import { ListQuery, type Page, pageOf } from '../common/cursor.js';
import { Requires } from '../common/requires.js';
import { Tool } from '../common/tool.js';
import { Operation } from '../openapi/operation.js';
import { ForceQuery } from './force.query.js';
import { MembersService } from './members.service.js';

@Controller('members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Post()
  @Requires('administer')
  @Tool({ name: 'add_member', effect: 'write', isIdempotent: true })
  @Operation({
    summary: 'Makes somebody a member',
    description:
      'By the subject of their tokens (`oidc:<issuer host>:<sub>`), by e-mail address (the first token that proves the ' +
      'address takes the invitation), or a key of another workspace (`key:<id>`). With the same role again it answers 200.',
    answer: { status: 201, schema: MemberView },
    bodyExample: { subject: 'ada@example.com', role: 'member' },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  async invite(
    @Caller() caller: Principal,
    @Body({ schema: Invitation }) invitation: Invitation,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MemberView> {
    const { kind, member } = await this.members.invite(caller, invitation);
    reply.status(kind === 'inserted' ? 201 : 200);
    return member;
  }

  @Get()
  @Requires('administer')
  @Tool({ name: 'list_members', effect: 'read' })
  @Operation({
    summary: 'Every member, by subject',
    description: 'The keys of the workspace are members by themselves, and are listed under /keys.',
    answer: { status: 200, schema: pageOf(MemberView) },
  })
  list(@Caller() { workspace }: Principal, @Query({ schema: ListQuery }) query: ListQuery): Promise<Page<MemberView>> {
    return this.members.list(workspace, query);
  }

  @Patch(':subject')
  @Requires('administer')
  @Tool({ name: 'set_member_role', effect: 'destroy', isIdempotent: true, confirm: 'subject' })
  @Operation({
    summary: 'Gives a member another role',
    description: 'Keys the member made that may more than the new role are revoked; the answer names them.',
    answer: { status: 200, schema: ChangedMember },
    bodyExample: { role: 'admin' },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  changeRole(
    @Caller() { workspace }: Principal,
    @Param('subject', { schema: MemberSubject }) subject: string,
    @Body({ schema: RoleChange }) { role }: RoleChange,
    @Query({ schema: ForceQuery }) { force }: ForceQuery,
  ): Promise<ChangedMember> {
    return this.members.changeRole(workspace, subject, role, force);
  }

  @Delete(':subject')
  @Requires('administer')
  @Tool({ name: 'remove_member', effect: 'destroy', isIdempotent: true, confirm: 'subject' })
  @Operation({
    summary: 'Removes a member',
    description: 'The keys the member made, and those made with them, are revoked; the answer names them.',
    answer: { status: 200, schema: ChangedMember },
    refuses: ['NOT_FOUND', 'CONFLICT'],
  })
  remove(
    @Caller() { workspace }: Principal,
    @Param('subject', { schema: MemberSubject }) subject: string,
    @Query({ schema: ForceQuery }) { force }: ForceQuery,
  ): Promise<ChangedMember> {
    return this.members.remove(workspace, subject, force);
  }
}
